import { readFileSync } from 'node:fs';
import type { Plugin } from 'esbuild';

/** Puts the text of docs/errors.md into a bundle of the command line, which reads the file when it runs from sources. */
export const errorsPage: Plugin = {
  name: 'errors-page',
  setup(build) {
    build.onLoad({ filter: /[\\/]explain[\\/]errors-page\.ts$/ }, () => {
      const text = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8');
      return { contents: `export const errorsPage = ${JSON.stringify(text)};` };
    });
  },
};
