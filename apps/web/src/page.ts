import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PageFiles } from './bundle.ts';

export type { PageFiles } from './bundle.ts';

/** Outside of the published files, and deleted together with `node_modules`. */
const cache = new URL('../node_modules/.cache/page/', import.meta.url);

/** Loads the page: built if the sources have changed, or, in the published package, from a module of the same name. */
export async function loadPage(): Promise<PageFiles> {
  const name = `${fingerprint()}.json`;
  try {
    return JSON.parse(readFileSync(new URL(name, cache), 'utf8')) as PageFiles;
  } catch {
    const { bundle } = await import('./bundle.ts');
    const files = await bundle();
    keep(name, files);
    return files;
  }
}

/** Caches the built page and removes older ones. If the cache is not writable, the page is built at each start. */
function keep(name: string, files: PageFiles): void {
  try {
    mkdirSync(cache, { recursive: true });
    const older = readdirSync(cache).filter((file) => file.endsWith('.json'));
    // Write to a temporary file first, because another server may be reading at the same time.
    const temporary = `${fileURLToPath(new URL(name, cache))}.${process.pid}`;
    writeFileSync(temporary, JSON.stringify(files));
    renameSync(temporary, new URL(name, cache));
    for (const file of older) if (file !== name) rmSync(new URL(file, cache), { force: true });
  } catch {
    // The sources are read-only.
  }
}

/** Returns a value that changes whenever the built page could change. */
export function fingerprint(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const hash = createHash('sha256');
  const core = fileURLToPath(new URL('../../../packages/agent/src/', import.meta.url));
  const files = [here, core].flatMap((folder) =>
    globSync('**/*.{ts,tsx,css,html}', { cwd: folder }).map((name) => join(folder, name)),
  );
  const lock = fileURLToPath(new URL('../../../pnpm-lock.yaml', import.meta.url));
  for (const file of [...files.sort(), lock]) hash.update(relative(here, file)).update(readFileSync(file));
  return hash.digest('hex').slice(0, 20);
}
