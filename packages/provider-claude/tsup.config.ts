import type { Options } from 'tsup';
import { bundle } from '../../tsup.base.ts';
import { notices } from '../../tsup.notices.ts';

/**
 * What is used of the vendor's client is in the package, in a part that is read at the first request: importing the
 * whole client takes longer than all else that a program does before it. As for browsers, where the client leaves out
 * what reads credentials from files, so that nothing of Node is in it; the key is always given.
 */
const config: Options = {
  ...bundle({
    index: 'src/index.ts',
    'testing/index': 'src/testing/index.ts',
    transcripts: 'src/transcripts.ts',
  }),
  platform: 'browser',
  noExternal: [/^@anthropic-ai\/sdk/, /^@opentelemetry\//],
  esbuildPlugins: [notices('NOTICES.txt')],
};

export default config;
