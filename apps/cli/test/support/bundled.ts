import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const source = fileURLToPath(new URL('../..', import.meta.url));

/** yaml's own modules: of what it has for Node, which is CommonJS, names are not found when it is bundled. */
const yaml = createRequire(import.meta.url)
  .resolve('yaml/package.json')
  .replace('package.json', 'browser/index.js');

/** The page of the server stays a source, which keeps what it built: tests need no build before them. */
const page = new URL('../../../web/src/page.ts', import.meta.url).href;

/**
 * Puts the command line into one folder before its tests, for those that start it: a start from the sources resolves
 * and strips three hundred files, which is most of what several hundred starts cost. `binary.ts` reads where it is.
 */
export default async function bundled(): Promise<() => void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cobbler-test-cli-')));
  for (const name of ['package.json', 'demo'])
    cpSync(join(source, name), join(folder, name), { recursive: true });
  await build({
    entryPoints: [join(source, 'src/main.ts')],
    outdir: join(folder, 'dist'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    conditions: ['@cobbler/source'],
    alias: { yaml },
    // What is CommonJS among the packages requires parts of Node.
    banner: {
      js: "import { createRequire as toRequire } from 'node:module';\nconst require = toRequire(import.meta.url);",
    },
    plugins: [
      {
        name: 'page',
        setup: ({ onResolve }) =>
          onResolve({ filter: /^@cobbler\/web\/page$/ }, () => ({ path: page, external: true })),
      },
    ],
    logLevel: 'error',
  });
  process.env['COBBLER_TEST_MAIN'] = join(folder, 'dist', 'main.js');
  return () => rmSync(folder, { recursive: true, force: true });
}
