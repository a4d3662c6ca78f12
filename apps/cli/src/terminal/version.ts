import { readFileSync } from 'node:fs';
import { packageRoot } from '../package-root.ts';

/** The version of this program. The file stands beside the folder of the sources, and of what is built of them. */
export function ownVersion(): string {
  const manifest: { version?: string } = JSON.parse(
    readFileSync(new URL('package.json', packageRoot), 'utf8'),
  );
  return manifest.version ?? 'unknown';
}
