import type { Options } from 'tsup';
import { bundle } from '../../tsup.base.ts';
import { notices } from '../../tsup.notices.ts';

/**
 * Bundles the used part of the vendor's client into a separate chunk, loaded on the first request:
 * importing the whole client takes longer than the rest of the startup. The platform is `browser`,
 * because there the client omits the code that reads credentials from files, so the bundle needs no
 * Node modules. The key is always passed in.
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
