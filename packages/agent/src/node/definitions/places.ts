import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Environment } from '../../interfaces/config.ts';
import { mapOf, optional, read, record, text } from '../../values/input.ts';
import { cobblerHome, systemHome } from '../config-file.ts';
import type { DefinitionPlace } from './definition.ts';

/** Where to look for definitions. */
export interface PlacesOptions {
  /** The real path of the working directory. */
  readonly folder: string;
  /** The real path of the repository or project: the working directory or a directory above it. */
  readonly root: string;
  /** Determines the home directory of the user. Default: the environment of this process. */
  readonly env?: Environment;
}

const names = ['.cobbler', '.agents', '.claude', '.opencode'];

const options = record<PlacesOptions>({ folder: text, root: text, env: mapOf(optional(text)) }, [
  'folder',
  'root',
]);

/**
 * Returns the directories that can contain definitions, the most important first: those of a project, from the working
 * directory up to its root, and those of the user. They need not exist.
 */
export function definitionPlaces(given: PlacesOptions): {
  readonly project: readonly DefinitionPlace[];
  readonly user: readonly DefinitionPlace[];
} {
  const { folder, root, env = process.env } = read(given, options);
  const home = env['HOME'] ?? env['USERPROFILE'] ?? systemHome();
  const own = home
    ? ['.agents', '.claude', '.opencode', '.config/opencode'].map((name) => join(home, name))
    : [];
  const user = [cobblerHome(env), ...own].filter((path) => path !== undefined);
  const known = new Set(user.map(realOf));
  const project: DefinitionPlace[] = [];
  for (let at = folder; ; at = dirname(at)) {
    const here = names.map((name) => join(at, name)).filter((path) => !known.has(realOf(path)));
    project.push(...here.map((path) => ({ folder: path, project: root })));
    if (at === root || dirname(at) === at) break;
  }
  return { project, user: user.map((path) => ({ folder: path })) };
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
