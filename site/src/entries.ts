import { publishedPackages } from '../../scripts/house/exports.mjs';
import { entryFile, readProject } from '../../scripts/house/source.mjs';

/** An entry of a package: what is imported, and the source behind it. */
export interface Entry {
  readonly specifier: string;
  /** From the root of the project. */
  readonly file: string;
}

/** Every entry of every package that is published, the packages in the order of their names. */
export function readEntries(root: string): Entry[] {
  return publishedPackages(readProject(root, [])).flatMap((target) =>
    Object.keys(target.manifest.exports).flatMap((entry) => {
      const file = entryFile(target, entry);
      return file === undefined ? [] : [{ specifier: target.name + entry.slice(1), file }];
    }),
  );
}

/** Where the reference of an entry begins, from the root of the site. */
export function referenceLink({ specifier }: Entry): string {
  return `/api/${specifier.replace(/^@[^/]+\//, '')}/`;
}
