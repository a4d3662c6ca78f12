import type { Metafile } from 'esbuild';
import { build } from 'esbuild';
import { bundleSize } from '../../scripts/bundle-size.mjs';
import type { Entrant } from './round.ts';

/** The size that a dependency adds to a program that is bundled, minified and compressed, in bytes. */
export interface Size {
  readonly entrant: Entrant;
  /** What the program loads at its start. */
  readonly gzipBytes: number;
  /** What it loads later, with `import()`. */
  readonly laterBytes: number;
}

/** A package that an entry of another package loads. */
export interface Reached {
  readonly name: string;
  /** True if it is loaded only on demand. */
  readonly lazily: boolean;
}

/** The imports of a program that performs the work of the contestants, and the packages that are not counted. */
export interface Program {
  readonly imports: string;
  readonly without: readonly string[];
}

const cobbler =
  "export { defineTool, Executor } from '@cobbler/agent'; export { createClaude } from '@cobbler/provider-claude';";

const programs: Readonly<Partial<Record<Entrant, Program>>> = {
  'anthropic-sdk': { imports: "export { Anthropic } from '@anthropic-ai/sdk';", without: ['zod'] },
  'ai-sdk': {
    imports:
      "export { isStepCount, jsonSchema, streamText, tool } from 'ai'; export { createAnthropic } from '@ai-sdk/anthropic';",
    without: ['zod'],
  },
  'cobbler-and-sdk': { imports: cobbler, without: ['zod'] },
  cobbler: { imports: cobbler, without: ['zod', '@anthropic-ai/sdk', './client.js'] },
};

/** Measures the size of the requested entrants from the built packages in `folder`. */
export async function sizesOf(entrants: readonly Entrant[], folder: string): Promise<Size[]> {
  const sizes: Size[] = [];
  for (const entrant of entrants) {
    const program = programs[entrant];
    if (program === undefined) continue;
    const { atStart, later } = await bundleSize({
      contents: program.imports,
      folder,
      external: [...program.without],
    });
    sizes.push({ entrant, gzipBytes: atStart, laterBytes: later });
  }
  return sizes;
}

/** Returns the packages that an entry loads, without its own package. */
export async function reachedFrom(entry: string, folder: string): Promise<Reached[]> {
  const { metafile } = await build({
    stdin: { contents: `export * from '${entry}';`, resolveDir: folder },
    bundle: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'error',
    metafile: true,
    write: false,
  });
  return reachedIn(metafile, entry);
}

/**
 * Returns the packages in the metadata of a bundle. A package counts as lazily reached if each path to it contains an
 * `import()`.
 */
export function reachedIn({ inputs }: Pick<Metafile, 'inputs'>, entry: string): Reached[] {
  const eager = new Set<string>();
  const visit = (path: string): void => {
    if (eager.has(path)) return;
    eager.add(path);
    for (const next of inputs[path]?.imports ?? []) {
      if (next.kind !== 'dynamic-import' && next.external !== true) visit(next.path);
    }
  };
  visit('<stdin>');
  const own = new Set([entry, undefined]);
  const names = new Set(Object.keys(inputs).map(packageOf));
  const eagerNames = new Set([...eager].map(packageOf));
  return [...names]
    .flatMap((name) => (name === undefined || own.has(name) ? [] : [{ name, lazily: !eagerNames.has(name) }]))
    .sort((left, right) => (left.name < right.name ? -1 : 1));
}

/** Returns the installed package that a file belongs to; undefined for a file of the workspace. */
function packageOf(path: string): string | undefined {
  return /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
}
