import { copyFileSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Page } from './pages.ts';
import { readPages } from './pages.ts';

/** The first page of the API reference. typedoc writes it and all pages below it. */
export const referencePage: Page = { source: 'api', path: 'api/index.md', title: 'API', text: '' };

/** Writes the pages to build into an empty directory. */
export function gather(root: string, folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  for (const { path, text } of readPages(root)) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  const forModels = join(root, 'llms.txt');
  if (!existsSync(forModels)) return;
  mkdirSync(join(folder, 'public'), { recursive: true });
  copyFileSync(forModels, join(folder, 'public', 'llms.txt'));
}
