import { dirname } from 'node:path';
import type { SandboxRights } from './bwrap.ts';
import type { GuardedFile } from './guarded-files.ts';
import type { SandboxPlaces } from './places.ts';

/**
 * Returns a profile for `sandbox-exec` on macOS. It has not been tested yet. Unlike bubblewrap, it hides no processes, and git
 * can never write: a rule cannot allow less inside what another one allows more.
 */
export function seatbeltProfile(
  { workspace, realHome, home, temporary, shown, write, sealed }: SandboxPlaces,
  { mode, network }: SandboxRights,
  guarded: readonly GuardedFile[],
): string {
  const subpaths = (paths: readonly string[]) =>
    paths.map((path) => `(subpath ${JSON.stringify(path)})`).join(' ');
  const literals = (paths: readonly string[]) =>
    paths.map((path) => `(literal ${JSON.stringify(path)})`).join(' ');
  const rule = (words: string, paths: string) => (paths === '' ? '' : `(${words} ${paths})`);
  const writable = [temporary, home, ...write, ...(mode === 'strict' ? [] : [workspace])];
  const files = guarded.map(({ path }) => path);
  return [
    '(version 1)(deny default)(allow process-exec process-fork sysctl-read mach-lookup)',
    '(allow signal (target same-sandbox))(allow file-read*)',
    rule('deny file-read*', subpaths(['/Users', ...(realHome === undefined ? [] : [realHome])])),
    rule('allow file-read*', subpaths([workspace, home, temporary, ...shown, ...write])),
    rule('deny file-read*', subpaths(sealed)),
    rule('allow file-write*', subpaths(['/dev', ...writable])),
    rule('deny file-write*', subpaths(files)),
    rule('deny file-write-unlink', literals(files.map((path) => dirname(path)))),
    network ? '(allow network*)' : '(allow network* (local ip "localhost:*"))',
  ].join('\n');
}
