import { gzipSync } from 'node:zlib';
import type { Metafile } from 'esbuild';
import { build } from 'esbuild';
import type { Entrant } from './round.ts';

/** What somebody's code weighs in the program of who uses it. */
export interface Size {
  readonly entrant: Entrant;
  /** Bundled and minified, for Node. */
  readonly bytes: number;
  /** The same, compressed. */
  readonly gzipBytes: number;
}

/** A package that an entry of another one comes to load. */
export interface Reached {
  readonly name: string;
  /** Only when something asks for it. */
  readonly lazily: boolean;
}

/** What a program imports that does what the contestants do, and what of it is not weighed. */
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

/** Weighs everybody who is asked for and can be weighed, from what is built in the packages of `folder`. */
export async function sizesOf(entrants: readonly Entrant[], folder: string): Promise<Size[]> {
  const sizes: Size[] = [];
  for (const entrant of entrants) {
    const program = programs[entrant];
    if (program !== undefined) sizes.push({ entrant, ...(await weigh(program, folder)) });
  }
  return sizes;
}

/** Bundles a program from what is built in `folder` and weighs it. */
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
  return estimateTokens(outputFiles.map(({ contents }) => contents));
}

/** The weight of a bundle's files. */
export function estimateTokens(files: readonly Uint8Array[]): {
  readonly bytes: number;
  readonly gzipBytes: number;
} {
  const whole = Buffer.concat(files);
  return { bytes: whole.length, gzipBytes: gzipSync(whole, { level: 9 }).length };
}

/** The packages that come with an entry of a package, itself left out. */
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

/** What is told by how a bundle came about. A package counts as lazily reached if each way to it has an `import()`. */
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

/** The installed package that a file belongs to; nothing for a file of the workspace. */
function packageOf(path: string): string | undefined {
  return /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
}
