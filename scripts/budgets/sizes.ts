import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { weigh } from '../../bench/src/size.ts';
import { Refusal } from '../child.mjs';
import { publishedPackages } from '../house/exports.mjs';
import type { Package, Project } from '../house/source.mjs';

/** What an entry weighs in the program of who imports it: bundled, minified, compressed, what it depends on left out. */
export interface EntrySize {
  readonly entry: string;
  readonly gzipBytes: number;
}

/** How far a budget may lie above what is measured, as a part of it; small entries have a hundred bytes. */
const headroom = 0.05;
const minRoom = 100;

/**
 * Weighs every entry of every published package, and the command line as a whole, as they are built.
 *
 * @throws Refusal when something is not built.
 */
export async function entrySizes(project: Project): Promise<EntrySize[]> {
  const sizes: EntrySize[] = [];
  for (const target of publishedPackages(project)) {
    for (const entry of Object.keys(target.manifest.exports)) {
      const specifier = target.name + entry.slice(1);
      sizes.push(await sizeOf(project, target, specifier, `export * from '${specifier}';`));
    }
  }
  for (const target of project.packages) {
    for (const [name, file] of Object.entries(target.manifest.bin ?? {}))
      sizes.push(await sizeOf(project, target, name, `import('./${String(file)}');`));
  }
  return sizes;
}

async function sizeOf(project: Project, target: Package, entry: string, imports: string): Promise<EntrySize> {
  const folder = join(project.root, target.folder);
  if (!existsSync(join(folder, 'dist')))
    throw new Refusal(`${target.folder} is not built. Run 'npm run exec turbo run build' first.`);
  const { dependencies, peerDependencies } = target.manifest;
  const without = Object.keys({ ...dependencies, ...peerDependencies }).flatMap((name) => [
    name,
    `${name}/*`,
  ]);
  return { entry, gzipBytes: (await weigh({ imports, without }, folder)).gzipBytes };
}

/** The budget that goes with a size: 3 % of room, or half of the least. */
export function budgetFor(gzipBytes: number): number {
  return Math.ceil(Math.max(gzipBytes * 1.03, gzipBytes + minRoom / 2) / 10) * 10;
}

/** What is wrong with a size and its budget, if anything. A new entry has none until `--write` gives it one. */
export function verdict({ entry, gzipBytes }: EntrySize, budget: number | undefined): string | undefined {
  if (budget === undefined) return undefined;
  if (gzipBytes > budget) return `${entry} weighs ${gzipBytes} bytes, more than ${budget}`;
  const most = Math.max(gzipBytes * (1 + headroom), gzipBytes + minRoom);
  if (budget > most) return `${entry} weighs ${gzipBytes} bytes and may take ${budget}: lower its budget`;
  return undefined;
}
