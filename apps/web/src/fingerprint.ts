import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Returns a value that changes whenever the built page could change. */
export function fingerprint(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const hash = createHash('sha256');
  const core = fileURLToPath(new URL('../../../packages/agent/src/', import.meta.url));
  const files = [here, core].flatMap((folder) =>
    globSync('**/*.{ts,tsx,css,html}', { cwd: folder }).map((name) => join(folder, name)),
  );
  const lock = fileURLToPath(new URL('../../../pnpm-lock.yaml', import.meta.url));
  for (const file of [...files.sort(), lock]) hash.update(relative(here, file)).update(readFileSync(file));
  return hash.digest('hex').slice(0, 20);
}
