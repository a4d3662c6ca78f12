import { existsSync, mkdirSync } from 'node:fs';
// A default import: an older Node lacks these names and must still get as far as the error message about its version.
import module from 'node:module';
import { dirname, join } from 'node:path';
import type { Environment } from '../terminal/io.ts';

/**
 * Enables Node's compile cache in Cobbler's home directory, so that the next start is faster. The directory is
 * private, because Node runs its contents unchecked. It is created only if the home directory exists; without one,
 * every start compiles again.
 */
export function keepCompiled(env: Environment): void {
  const folder = compiledFolder(env);
  if (folder === undefined || module.getCompileCacheDir() !== undefined || env['NODE_DISABLE_COMPILE_CACHE'])
    return;
  try {
    if (!existsSync(dirname(dirname(folder)))) return;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    module.enableCompileCache(folder);
  } catch {
    // The home directory is not writable.
  }
}

/** Returns the directory of the cache, by the rule of `cobblerHome`, which would first have to be loaded and compiled. */
export function compiledFolder(env: Environment): string | undefined {
  const { COBBLER_HOME, HOME, USERPROFILE } = env;
  if (COBBLER_HOME) return join(COBBLER_HOME, 'compiled');
  const home = HOME ?? USERPROFILE;
  return home ? join(home, '.cobbler', 'compiled') : undefined;
}
