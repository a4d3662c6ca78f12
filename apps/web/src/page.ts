import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { PageFiles } from './bundle.ts';
import { fingerprint } from './fingerprint.ts';

export type { PageFiles } from './bundle.ts';

/** Kept outside of what is published, and thrown away with `node_modules`. */
const cache = new URL('../node_modules/.cache/page/', import.meta.url);

/**
 * The page as it is served. From the sources it is built when they have changed since it was built last; in
 * what is published, a module of the same name holds it ready.
 */
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

/** Keeps what was built, and nothing older. Where nothing can be written it is built at each start. */
function keep(name: string, files: PageFiles): void {
  try {
    mkdirSync(cache, { recursive: true });
    const older = readdirSync(cache).filter((file) => file.endsWith('.json'));
    // Beside its place first: another server may read it at this moment.
    const draft = `${fileURLToPath(new URL(name, cache))}.${process.pid}`;
    writeFileSync(draft, JSON.stringify(files));
    renameSync(draft, new URL(name, cache));
    for (const file of older) if (file !== name) rmSync(new URL(file, cache), { force: true });
  } catch {
    // A source tree of another program.
  }
}
