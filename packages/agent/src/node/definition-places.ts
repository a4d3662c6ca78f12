import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Environment } from '../interfaces/config.ts';
import { listOf, mapOf, optional, read, record, text } from '../values/input.ts';
import { cobblerHome, systemHome } from './config-file.ts';

/** A directory with definitions, such as `.agents`, which has them in `skills`, `commands` and `agents`. */
export interface DefinitionPlace {
  readonly folder: string;
  /** The real path of the project that the directory belongs to. No link leads out of it. Absent: it is the user's own. */
  readonly project?: string;
}

/** Where to look for definitions. */
export interface PlacesOptions {
  /** The real path of the working directory. */
  readonly folder: string;
  /** The real path of the repository or project: the working directory or a directory above it. */
  readonly root: string;
  /** The names of the directories, the most important first. Default: `.cobbler` and `.agents`. */
  readonly names?: readonly string[];
  /** Determines the home directory of the user. Default: the environment of this process. */
  readonly env?: Environment;
}

const kinds = ['skills', 'commands', 'agents'];

const options = record<PlacesOptions>(
  { folder: text, root: text, names: listOf(text), env: mapOf(optional(text)) },
  ['folder', 'root'],
);

/**
 * Returns the existing directories that can contain definitions, the most important first: those of a project, from the
 * working directory up to its root, and those of the user.
 */
export function definitionPlaces(given: PlacesOptions): {
  readonly project: readonly DefinitionPlace[];
  readonly user: readonly DefinitionPlace[];
} {
  const { folder, root, names = ['.cobbler', '.agents'], env = process.env } = read(given, options);
  const home = env['HOME'] ?? env['USERPROFILE'] ?? systemHome();
  const own = names.map((name) => (name === '.cobbler' ? cobblerHome(env) : home && join(home, name)));
  const user = own.filter((path) => path !== undefined).filter(isPlace);
  const known = new Set(user.map((path) => realpathSync(path)));
  const project: DefinitionPlace[] = [];
  for (let at = folder; ; at = dirname(at)) {
    const here = names.map((name) => join(at, name)).filter(isPlace);
    const theirs = here.filter((path) => !known.has(realpathSync(path)));
    project.push(...theirs.map((path) => ({ folder: path, project: root })));
    if (at === root || dirname(at) === at) break;
  }
  return { project, user: user.map((path) => ({ folder: path })) };
}

function isPlace(path: string): boolean {
  return existsSync(path) && kinds.some((kind) => existsSync(join(path, kind)));
}
