import { publishedPackages } from '../../scripts/api/exports.mjs';
import { entryFile, readProject } from '../../scripts/api/source.mjs';

/** An entry point of a package: the import specifier and its source file. */
export interface Entry {
  readonly specifier: string;
  /** Relative to the repository root. */
  readonly file: string;
}

/** Returns every entry point of every published package, sorted by package name. */
export function readEntries(root: string): Entry[] {
  return publishedPackages(readProject(root, [])).flatMap((target) =>
    Object.keys(target.manifest.exports).flatMap((entry) => {
      const file = entryFile(target, entry);
      return file === undefined ? [] : [{ specifier: target.name + entry.slice(1), file }];
    }),
  );
}

/** Returns the address of an entry point's API reference. */
export function referenceLink({ specifier }: Entry): string {
  return `/api/${specifier.replace(/^@[^/]+\//, '')}/`;
}
