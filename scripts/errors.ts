// Writes docs/errors.md from the error catalog; with --check, only compares the two.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { catalogue } from '../apps/cli/src/explain/catalogue.ts';
import { errorsPage } from './errors/page.mjs';

const file = fileURLToPath(new URL('../docs/errors.md', import.meta.url));
const page = errorsPage(catalogue);
if (!process.argv.includes('--check')) writeFileSync(file, page);
else if (readFileSync(file, 'utf8') !== page) {
  process.stderr.write('docs/errors.md does not match the catalogue. Write it: npm run generate -- errors\n');
  process.exitCode = 1;
}
