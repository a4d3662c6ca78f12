import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';
import type { Options } from 'tsup';
import { bundle } from '../../tsup.base.ts';
import { clientsWithoutFetch } from '../../tsup.clients.ts';
import { notices } from '../../tsup.notices.ts';
import { docsPages } from './tsup.docs-pages.ts';
import { groupedFiles } from './tsup.grouped-files.ts';

/** The browser modules of yaml, because its Node build is CommonJS, which cannot be tree-shaken. */
const yaml = createRequire(import.meta.url)
  .resolve('yaml/package.json')
  .replace('package.json', 'browser/index.js');

/** The built web page of the server, because importing its source would build it. */
const page = fileURLToPath(new URL('../web/dist/page.js', import.meta.url));

/** Gives Commander the global `process`, because importing `node:process` opens standard input. */
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
 * CommonJS packages such as `pg` call `require` for modules of Node, which ES modules do not have.
 * esbuild sends these calls through one helper; only the file that contains it gets a `require`.
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

/** Bundles the CLI, in parts that commands load when needed. Loading `node_modules` instead takes three times as long. */
const config: Options = {
  // The highlighter has its own file, because it is loaded when the first code is shown.
  ...bundle({ main: 'src/main.ts', highlighter: 'src/terminal/highlighter.ts' }),
  platform: 'node',
  noExternal: [/^[^.]/],
  minify: true,
  plugins: [
    nodeRequire,
    groupedFiles(['main', 'parse', 'version'], { task: ['run', 'claude', 'sqlite-store'], talk: ['chat'] }),
  ],
  esbuildPlugins: [process, docsPages, clientsWithoutFetch, notices('NOTICES.txt')],
  esbuildOptions(options) {
    // Bundles from the sources, to exclude package files that no command imports.
    options.conditions = ['@cobbler/source'];
    options.alias = { yaml, '@cobbler/web/page': page };
    options.legalComments = 'none';
  },
};

export default config;
