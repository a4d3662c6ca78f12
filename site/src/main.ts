// Builds the site from the documents and the API reference, and checks every link: `npm run docs`. With `serve`, serves it.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { preview } from 'vite';
import { build } from 'vitepress';
import { deadLinks } from './dead-links.ts';
import { readEntries } from './entries.ts';
import { gather } from './gather.ts';
import { writeReference } from './reference.ts';

const site = dirname(dirname(fileURLToPath(import.meta.url)));
const root = dirname(site);
const drawn = join(site, 'pages');

const isServed = process.argv.includes('serve');

if (!isServed || !existsSync(join(site, 'dist/index.html'))) await write();
if (isServed) await serve();

async function write(): Promise<void> {
  gather(root, drawn);
  await writeReference(root, join(drawn, 'api'), readEntries(root));
  await build(site);
  const dead = deadLinks(join(site, 'dist'));
  for (const link of dead) process.stderr.write(`dead link: ${link}\n`);
  if (dead.length > 0) process.exitCode = 1;
}

async function serve(): Promise<void> {
  const address = { host: '127.0.0.1', port: 4173 };
  const server = await preview({
    root: site,
    configFile: false,
    appType: 'mpa',
    build: { outDir: 'dist' },
    preview: address,
  });
  server.printUrls();
}
