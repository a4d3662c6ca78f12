import { entriesOf, isDocumented, publishedPackages } from '../house/exports.mjs';
import { cycles } from '../house/graph.mjs';
import type { Project, Source } from '../house/source.mjs';
import { visit } from '../house/source.mjs';

/** Something with a length, and where it is. */
export interface Longest {
  readonly lines: number;
  readonly place: string;
}

/** What can be counted in the sources. */
export interface Shape {
  readonly file: Longest;
  readonly cycles: number;
  /** How often the type `any` is written. */
  readonly anys: number;
  readonly exports: number;
  readonly undocumented: number;
}

/** Measures the code of a project; tests count for `any` and for cycles, and may be as long as they like. */
export function shapeOf(project: Project): Shape {
  const sources = [...project.sources.values()];
  const own = sources.filter(({ path }) => !/\/(test|faces)\//.test(path));
  const names = publishedPackages(project).flatMap((one) =>
    entriesOf(project, one).flatMap((entry) => entry.names),
  );
  const bare = names.filter(
    ({ source, statements }) => source && !statements.some((statement) => isDocumented(source, statement)),
  );
  return {
    file: longest(own.map(({ path, text }) => ({ lines: text.trimEnd().split('\n').length, place: path }))),
    cycles: cycles(project).length,
    anys: sources.reduce((sum, source) => sum + anysIn(source), 0),
    exports: names.length,
    undocumented: bare.length,
  };
}

function longest(all: readonly Longest[]): Longest {
  return all.reduce((most, one) => (one.lines > most.lines ? one : most), { lines: 0, place: 'none' });
}

function anysIn({ program }: Source): number {
  let count = 0;
  visit(program, ({ type }) => {
    if (type === 'TSAnyKeyword') count += 1;
  });
  return count;
}
