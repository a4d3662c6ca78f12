import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';
import type { Options } from 'tsup';
import { bundle } from '../../tsup.base.ts';
import { notices } from '../../tsup.notices.ts';

/** yaml's own modules: what it has for Node is CommonJS, of which nothing can be left out. */
const yaml = createRequire(import.meta.url)
  .resolve('yaml/package.json')
  .replace('package.json', 'browser/index.js');

/** The page of the server as it was built: its source would build it. */
const page = fileURLToPath(new URL('../web/dist/page.js', import.meta.url));

/** Importing `node:process` opens standard input for whoever may ask for it. Commander wants what is there anyway. */
const process: Plugin = {
  name: 'process',
  setup(build) {
    build.onResolve({ filter: /^node:process$/ }, ({ importer }) =>
      importer.includes('/commander/') ? { path: 'process', namespace: 'global' } : undefined,
    );
    build.onLoad({ filter: /^process$/, namespace: 'global' }, () => ({
      contents: 'export default globalThis.process;',
    }));
  },
};

/**
 * CommonJS packages such as `pg` call `require` for parts of Node, and an ES module has no `require`. esbuild sends all
 * these calls through one helper; the file that holds it gets a `require`, and only that file.
 */
const nodeRequire: NonNullable<Options['plugins']>[number] = {
  name: 'node-require',
  renderChunk: (code) =>
    code.includes('Dynamic require of "')
      ? {
          code: `import{createRequire}from"node:module";const require=createRequire(import.meta.url);${code}`,
        }
      : undefined,
};

/**
 * The command line is one folder that needs nothing beside it: what it uses of other packages is in it, and each part
 * is read when a command comes to need it. Loading the same from `node_modules` takes three times as long.
 */
const config: Options = {
  ...bundle({ main: 'src/main.ts' }),
  platform: 'node',
  noExternal: [/^[^.]/],
  minify: true,
  plugins: [nodeRequire],
  esbuildPlugins: [process, notices('NOTICES.txt')],
  esbuildOptions(options) {
    // From the sources, so that a file of a package that no command imports is not in it.
    options.conditions = ['@cobbler/source'];
    options.alias = { yaml, '@cobbler/web/page': page };
    options.legalComments = 'none';
  },
};

export default config;
