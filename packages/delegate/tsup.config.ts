import { bundle } from '../../tsup.base.ts';

export default bundle(
  {
    index: 'src/index.ts',
    'agent-tool/index': 'src/agent-tool/index.ts',
    'sdk/index': 'src/sdk/index.ts',
  },
  ['@anthropic-ai/claude-agent-sdk'],
);
