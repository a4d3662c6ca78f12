import { bundle } from '../../tsup.base.ts';

export default bundle({
  index: 'src/index.ts',
  'mcp/index': 'src/mcp/index.ts',
  'planning/index': 'src/planning/index.ts',
  'wait-until': 'src/wait-until.ts',
  'web/web-fetch': 'src/web/web-fetch.ts',
});
