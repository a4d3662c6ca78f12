// Writes the page as a module that contains all its files, so that a bundler needs no files on disk.
import { mkdirSync, writeFileSync } from 'node:fs';
import { bundle } from './bundle.ts';

const folder = new URL('../dist/', import.meta.url);
const files = JSON.stringify(await bundle(), null, 1);
mkdirSync(folder, { recursive: true });
writeFileSync(
  new URL('page.js', folder),
  `const files = ${files};\nexport const loadPage = async () => files;\n`,
);
writeFileSync(
  new URL('page.d.ts', folder),
  'export type PageFiles = Readonly<Record<string, { readonly type: string; readonly text: string }>>;\n' +
    'export declare function loadPage(): Promise<PageFiles>;\n',
);
