import type { Plugin } from 'esbuild';
import type { Options } from 'tsup';
import { bundle } from '../../tsup.base.ts';
import { clientsWithoutFetch } from '../../tsup.clients.ts';
import { notices } from '../../tsup.notices.ts';

/**
 * Bundles the used part of the vendor's client into `client.js`, which is loaded on the first request:
 * importing the whole client takes longer than the rest of the startup. The platform is `browser`,
 * because there the client omits the code that reads credentials from files, so the bundle needs no
 * Node modules. The key is always passed in.
 */
const client: Plugin = {
  name: 'client',
  setup({ esbuild, initialOptions, onResolve, onEnd }) {
    onResolve({ filter: /^\.\/client\.ts$/ }, () => ({ path: './client.js', external: true }));
    onEnd(async () => {
      const { absWorkingDir, outdir = 'dist', target } = initialOptions;
      await esbuild.build({
        ...(absWorkingDir !== undefined && { absWorkingDir }),
        ...(target !== undefined && { target }),
        entryPoints: ['src/client.ts'],
        outdir,
        bundle: true,
        minify: true,
        legalComments: 'none',
        format: 'esm',
        platform: 'browser',
        plugins: [clientsWithoutFetch, notices('NOTICES.txt')],
        logLevel: 'error',
      });
    });
  },
};

const config: Options = {
  ...bundle({
    index: 'src/index.ts',
    batch: 'src/batch.ts',
    'testing/index': 'src/testing/index.ts',
    transcripts: 'src/transcripts.ts',
  }),
  esbuildPlugins: [client],
};

export default config;
