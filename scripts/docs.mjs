// The documents as a site with the API reference: npm run docs [-- serve]. Fetches VitePress and typedoc (0.2 GB, once)
// into site/ and writes site/dist, which any file server can serve; fails on a link that leads nowhere.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { preview } from 'vite';
import { handOver, Refusal } from './child.mjs';
import { cleanEnvironment } from './setup.mjs';
import { installSuite, runSuite } from './suite.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, 'site');
const port = 4173;

async function build() {
  await installSuite(root, folder, 'VitePress and typedoc (0.2 GB, once)');
  const types = await handOver('tsc', ['-p', folder], { cwd: root, env: process.env });
  if (types !== 0) return types;
  const flags = ['--disable-warning=ExperimentalWarning'];
  return handOver(process.execPath, [...flags, join(folder, 'src', 'main.ts')], {
    cwd: folder,
    env: cleanEnvironment(process.env),
  });
}

/** Shows on loopback what was built, until it is ended. */
async function serve() {
  if (!existsSync(join(folder, 'dist', 'index.html'))) {
    const code = await build();
    if (code !== 0) return code;
  }
  const server = await preview({
    root: folder,
    configFile: false,
    appType: 'mpa',
    build: { outDir: 'dist' },
    preview: { host: '127.0.0.1', port },
  });
  server.printUrls();
  return new Promise(() => {});
}

await runSuite('docs', async (words) => {
  const [word, ...rest] = words;
  if (rest.length > 0 || (word !== undefined && word !== 'serve'))
    throw new Refusal("Say nothing to build the site, or 'serve' to look at it.");
  return word === 'serve' ? serve() : build();
});
