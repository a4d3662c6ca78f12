import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { docsPages } from '../../tsup.docs-pages.ts';

const source = fileURLToPath(new URL('../..', import.meta.url));

/** The browser modules of yaml, because esbuild finds no named exports in its CommonJS build. */
const yaml = createRequire(import.meta.url)
  .resolve('yaml/package.json')
  .replace('package.json', 'browser/index.js');

/** The server's web page stays a source file that caches its build: tests need no build first. */
const page = new URL('../../../web/src/page.ts', import.meta.url).href;

/**
 * Bundles the CLI before tests that start it. A start from the sources resolves three hundred files
 * and strips their types, which would take most of the time of several hundred starts. `binary.ts`
 * reads the path of the bundle.
 */
export default async function bundled(): Promise<() => void> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cobbler-test-cli-')));
  for (const name of ['package.json', 'demo', 'templates'])
    cpSync(join(source, name), join(folder, name), { recursive: true });
  await build({
    entryPoints: {
      main: join(source, 'src/main.ts'),
      highlighter: join(source, 'src/terminal/highlighter.ts'),
    },
    outdir: join(folder, 'dist'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    conditions: ['@cobbler/source'],
    alias: { yaml },
    // CommonJS packages require modules of Node.
    banner: {
      js: "import { createRequire as toRequire } from 'node:module';\nconst require = toRequire(import.meta.url);",
    },
    plugins: [
      docsPages,
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
