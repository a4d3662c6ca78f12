import { cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';

const docs = new URL('../../docs/', import.meta.url);

/**
 * Puts the text of docs/errors.md into a bundle of the command line, and copies all pages beside it. From sources, the command
 * line reads these files.
 */
export const docsPages: Plugin = {
  name: 'docs-pages',
  setup(build) {
    build.onLoad({ filter: /[\\/]explain[\\/]errors-page\.ts$/ }, () => {
      const text = readFileSync(new URL('errors.md', docs), 'utf8');
      return { contents: `export const errorsPage = ${JSON.stringify(text)};` };
    });
    build.onLoad({ filter: /[\\/]explain[\\/]docs-folder\.ts$/ }, () => ({
      contents: `export const docsFolder = new URL('docs/', import.meta.url);`,
    }));
    build.onEnd(() => {
      const copies = join(build.initialOptions.outdir ?? 'dist', 'docs');
      mkdirSync(copies, { recursive: true });
      for (const file of readdirSync(docs).filter((name) => name.endsWith('.md')))
        cpSync(new URL(file, docs), join(copies, file));
    });
  },
};
