import type { Options } from 'tsup';

/**
 * One build for every package: plain ESM with shared chunks, dependencies left outside. The declarations
 * come from `tsc -p tsconfig.build.json`.
 */
export function bundle(entry: Record<string, string>, external: string[] = []): Options {
  return {
    entry,
    external: [/^node:/, ...external],
    format: 'esm',
    target: 'node22',
    platform: 'neutral',
    splitting: true,
    dts: false,
    minify: false,
    sourcemap: false,
    clean: true,
    // Stripped of its prefix, node:sqlite and its like would not be found.
    removeNodeProtocol: false,
    silent: true,
  };
}
