import { gzipSync } from 'node:zlib';
import type { Metafile } from 'esbuild';
import { build } from 'esbuild';
import type { Entrant } from './round.ts';

/** The size that a dependency adds to a program. */
export interface Size {
  readonly entrant: Entrant;
  /** Bundled and minified, for Node. */
  readonly bytes: number;
  /** The same, compressed. */
  readonly gzipBytes: number;
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
  cobbler: { imports: cobbler, without: ['zod', '@anthropic-ai/sdk', './client-*'] },
};

/** Measures the size of the requested entrants from the built packages in `folder`. */
export async function sizesOf(entrants: readonly Entrant[], folder: string): Promise<Size[]> {
  const sizes: Size[] = [];
  for (const entrant of entrants) {
    const program = programs[entrant];
    if (program !== undefined) sizes.push({ entrant, ...(await weigh(program, folder)) });
  }
  return sizes;
}

/** Bundles a program from the built packages in `folder` and measures its size. */
export async function weigh({ imports, without }: Program, folder: string): Promise<Omit<Size, 'entrant'>> {
  const { outputFiles } = await build({
    stdin: { contents: imports, resolveDir: folder },
    external: [...without],
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    legalComments: 'none',
    logLevel: 'error',
    write: false,
  });
  return compressedSize(outputFiles.map(({ contents }) => contents));
}

/** Returns the size of a bundle's files in bytes, before and after compression. */
export function compressedSize(files: readonly Uint8Array[]): {
  readonly bytes: number;
  readonly gzipBytes: number;
} {
  const whole = Buffer.concat(files);
  return { bytes: whole.length, gzipBytes: gzipSync(whole, { level: 9 }).length };
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
