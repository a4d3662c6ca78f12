import { readFileSync } from 'node:fs';
import { packageRoot } from '../package-root.ts';

/** Returns the version of this program. Its file is next to the directory of the sources or the build. */
export function ownVersion(): string {
  const manifest: { version?: string } = JSON.parse(
    readFileSync(new URL('package.json', packageRoot), 'utf8'),
  );
  return manifest.version ?? 'unknown';
}
