import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A program of the suite's lockfile in one version. */
export interface Edition {
  /** The heading of its column: `Node 24.21.0`. */
  readonly title: string;
  readonly folder: string;
}

/** The versions of Node and TypeScript to test, oldest first. */
export function editions(suite: string, prefix: 'node-' | 'typescript-', title: string): readonly Edition[] {
  const manifest: { dependencies: Record<string, string> } = JSON.parse(
    readFileSync(join(suite, 'package.json'), 'utf8'),
  );
  const names = Object.keys(manifest.dependencies).filter((name) => name.startsWith(prefix));
  return names.sort().map((name) => {
    const version = manifest.dependencies[name]?.split('@').at(-1) ?? '';
    return { title: `${title} ${version}`, folder: join(suite, 'node_modules', name) };
  });
}

/** @throws Error if there is no such column, which is a bug of the suite */
export function editionOf(all: readonly Edition[], title: string): Edition {
  const found = all.find((one) => one.title === title);
  if (found === undefined) throw new Error(`Unknown column: ${title}.`);
  return found;
}
