// Builds the site from the documents and the API reference, and checks every link. Run by `npm run docs`.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vitepress';
import { deadLinks } from './dead-links.ts';
import { readEntries } from './entries.ts';
import { gather } from './gather.ts';
import { writeReference } from './reference.ts';

const site = dirname(dirname(fileURLToPath(import.meta.url)));
const root = dirname(site);
const drawn = join(site, 'pages');

gather(root, drawn);
await writeReference(root, join(drawn, 'api'), readEntries(root));
await build(site);
const dead = deadLinks(join(site, 'dist'));
for (const link of dead) process.stderr.write(`dead link: ${link}\n`);
if (dead.length > 0) process.exitCode = 1;
