import { bundle } from '../../tsup.base.ts';

export default bundle(
  {
    index: 'src/index.ts',
    anthropic: 'src/anthropic.ts',
    openai: 'src/openai.ts',
    'testing/index': 'src/testing/index.ts',
  },
  ['@ai-sdk/anthropic', '@ai-sdk/openai'],
);
