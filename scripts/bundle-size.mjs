import { relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

/**
 * Bundles and minifies a program for Node. Returns the compressed bytes of the code that it loads at its start, and of
 * the code that it loads later with `import()`.
 * @param {{ contents: string, folder: string, external: string[] }} program `folder` resolves its imports
 */
export async function bundleSize({ contents, folder, external }) {
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: folder },
    external,
    absWorkingDir: folder,
    outdir: '.',
    bundle: true,
    splitting: true,
    metafile: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    legalComments: 'none',
    logLevel: 'error',
    write: false,
  });
  const first = loadedAtStart(metafile.outputs);
  /** @param {boolean} isFirst */
  const gzipped = (isFirst) => {
    const files = outputFiles.filter(({ path }) => first.has(relative(folder, path)) === isFirst);
    return files.length && gzipSync(Buffer.concat(files.map((file) => file.contents)), { level: 9 }).length;
  };
  return { atStart: gzipped(true), later: gzipped(false) };
}

/**
 * Returns the output files that an import of the entry loads.
 * @param {import('esbuild').Metafile['outputs']} outputs
 */
function loadedAtStart(outputs) {
  const found = new Set(Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === '<stdin>'));
  for (const path of found)
    for (const { kind, path: next } of outputs[path]?.imports ?? [])
      if (kind === 'import-statement' && next in outputs) found.add(next);
  return found;
}
