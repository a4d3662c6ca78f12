import { bundle } from '../../tsup.base.ts';

export default bundle({
  index: 'src/index.ts',
  'msw/index': 'src/msw/index.ts',
  'simulation/index': 'src/simulation/index.ts',
});
