import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { Environment } from '../interfaces/config.ts';
import { cobblerHome, systemHome } from './config-file.ts';

/** Paths in the home directory that contain keys and credentials. */
const sealedInHome = [
  ...['.aws', '.azure', '.config/gcloud', '.config/gh', '.docker', '.gnupg', '.kube', '.netrc', '.ssh'],
  ...['.config/BraveSoftware', '.config/chromium', '.config/google-chrome', '.mozilla', 'Library/Keychains'],
  ...['.local/share/keyrings', '.git-credentials', '_netrc'],
  ...['Library/Application Support/Firefox', 'Library/Application Support/Google/Chrome'],
];

/** Names that are sealed in any directory, because only keys and credentials have them. */
const sealedAnywhere: ReadonlySet<string> = new Set(['.gnupg', '.netrc', '.ssh']);

/** Paths in the home directory that run when a desktop session or shell starts. */
const guardedInHome = [
  ...['.config/autostart', '.config/fish', '.config/git', '.config/systemd', '.local/bin'],
  'Library/LaunchAgents',
];

/** Names that are guarded in any directory, because other programs execute or obey them. */
const guardedAnywhere: ReadonlySet<string> = new Set([
  ...['.agents', '.cobbler', '.codex', '.cursor', '.devcontainer', '.gemini', '.git', '.github'],
  ...['.githooks', '.husky', '.idea', '.opencode', '.vscode', 'agents.md', 'agents.override.md'],
  ...['.envrc', '.gitattributes', '.gitconfig', '.gitlab-ci.yml', '.gitmodules'],
  ...['.mcp.json', '.npmrc', '.pre-commit-config.yaml', '.yarnrc', '.yarnrc.yml', 'lefthook.yml'],
  ...['.bash_login', '.bash_logout', '.bash_profile', '.bashrc', '.inputrc', '.kshrc', '.profile'],
  ...['.zlogin', '.zlogout', '.zprofile', '.zshenv', '.zshrc'],
]);

/** Files whose presence makes git treat a directory as a repository. */
const guardedFiles = ['head', 'commondir'];

/**
 * The protected paths of one workspace. *Sealed* paths contain keys and Cobbler's own files: no tool opens them.
 * *Guarded* paths are executed or obeyed by other programs: the user must approve each write.
 *
 * Paths are compared as the most lenient file system does: case-insensitively, in NFC, without invisible characters,
 * without what Windows drops at the end of a name, and with short 8.3 names.
 */
export class ProtectedPaths {
  readonly #root: string;
  readonly #sealed: readonly (readonly string[])[];
  readonly #guarded: readonly (readonly string[])[];
  readonly #allowed: readonly (readonly string[])[];

  /**
   * Resolves the protected paths of a workspace.
   * @param root the real path of the workspace.
   * @param allowed guarded paths, relative to the workspace, that are not guarded.
   */
  constructor(root: string, env: Environment, allowed: readonly string[] = []) {
    this.#root = root;
    const guarded = homesOf(env).flatMap((home) => guardedInHome.map((name) => join(home, name)));
    this.#sealed = sealedPaths(env).map(namesOf);
    this.#allowed = allowed.map((path) => namesOf(resolve(root, path)));
    this.#guarded = withRealPaths(guarded).map(namesOf);
  }

  /** Returns whether a real path is sealed or is inside a sealed path. */
  isSealed(real: string): boolean {
    const names = namesOf(real);
    return (
      names.some((name) => meansOne(name, sealedAnywhere)) ||
      this.#sealed.some((sealed) => beginsWith(names, sealed))
    );
  }

  /** Returns whether a real path is a directory that contains a sealed location: searching it would find keys. */
  holdsSealed(real: string): boolean {
    const names = namesOf(real);
    return this.#sealed.some((sealed) => names.every((name, index) => means(name, sealed[index] ?? '')));
  }

  /**
   * Returns the part of a real path in the workspace that makes a write require approval, or undefined for an ordinary
   * file.
   * @param more additional guarded names, in lower case.
   */
  guardIn(real: string, more: readonly string[]): string | undefined {
    const names = namesOf(real);
    if (this.#allowed.some((path) => path.every((name, index) => names[index] === name))) return undefined;
    const below = relative(this.#root, real).split(sep);
    const guarded = new Set([...guardedAnywhere, ...more]);
    const found = below.findIndex((name) => meansOne(plain(name), guarded));
    if (found >= 0) return below.slice(0, found + 1).join('/');
    const isGuarded =
      guardedFiles.includes(plain(below.at(-1) ?? '')) ||
      this.#guarded.some((path) => beginsWith(names, path)) ||
      this.#root.split(sep).some((name) => means(plain(name), '.git')) ||
      isInRepository(real);
    return isGuarded ? below.join('/') : undefined;
  }
}

/**
 * Returns whether other programs execute or obey files and directories with this name, wherever they are.
 * @param more additional guarded names, in lower case.
 */
export function isGuardedName(name: string, more: ReadonlySet<string>): boolean {
  return meansOne(plain(name), guardedAnywhere) || meansOne(plain(name), more);
}

/** Returns the real paths of the locations in the home directories that contain keys and credentials. */
export function sealedPaths(env: Environment): string[] {
  const own = [cobblerHome(env), ...homesOf(env).map((home) => join(home, '.cobbler'))];
  const below = homesOf(env).flatMap((home) => sealedInHome.map((name) => join(home, name)));
  return withRealPaths([...below, ...own.filter((path) => path !== undefined)]);
}

/** Checks for a repository with any name: a `.git` file can refer to it, or git finds it without a work tree. */
function isInRepository(real: string): boolean {
  for (let at = dirname(real); ; at = dirname(at)) {
    const has = (name: string) => existsSync(join(at, name));
    if (has('HEAD') && (has('commondir') || (has('objects') && has('refs')))) return true;
    if (dirname(at) === at) return false;
  }
}

/** The environment variables and the system can name different home directories; all are used. */
export function homesOf(env: Environment): string[] {
  const homes = [env['HOME'], env['USERPROFILE'], systemHome()].flatMap((home) =>
    home ? [resolve(home)] : [],
  );
  return [...new Set(homes)];
}

/** Returns the paths as given and the real paths they currently resolve to. */
function withRealPaths(paths: readonly string[]): string[] {
  return [...new Set(paths.flatMap((path) => [resolve(path), realAsFar(resolve(path))]))];
}

/** Returns the real path of an absolute path, resolved as far as it exists. */
export function realAsFar(path: string): string {
  const rest: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    try {
      return join(realpathSync.native(at), ...rest);
    } catch {
      if (dirname(at) === at) return path;
      rest.unshift(basename(at));
    }
  }
}

/** Returns whether the last existing part of a path from {@link realAsFar} is a dangling symbolic link. */
export function hasLink(real: string): boolean {
  for (let at = real; dirname(at) !== at; at = dirname(at)) {
    try {
      return lstatSync(at).isSymbolicLink();
    } catch {
      // It does not exist yet: check its parent directory.
    }
  }
  return false;
}

function namesOf(path: string): string[] {
  return path.split(sep).filter(Boolean).map(plain);
}

/** Returns a name as the most lenient file system interprets it. A colon starts the name of a stream. */
function plain(name: string): string {
  // Fast path: most names are simple, and there can be very many.
  if (/^[\w.-]*[\w-]$/.test(name)) return name.toLowerCase();
  const seen = name.normalize('NFC').replace(/[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}]/gu, '');
  const kept = seen.replace(/(?<=.):.*$/su, '').replace(/(?<=[^. ])[. ]+$/u, '');
  return kept.toUpperCase().toLowerCase();
}

function beginsWith(names: readonly string[], start: readonly string[]): boolean {
  return start.length > 0 && start.every((name, index) => means(names[index] ?? '', name));
}

function meansOne(name: string, wanted: ReadonlySet<string>): boolean {
  return wanted.has(name) || (name.includes('~') && [...wanted].some((one) => means(name, one)));
}

/** Returns whether a plain name equals `wanted` or is its short form: `GIT~1`, or `GI7EBA~1` if several names start alike. */
function means(name: string, wanted: string): boolean {
  if (name === wanted) return true;
  if (!name.includes('~')) return false;
  const [, short = ''] = /^([^~]{2,6})~\d{1,4}(?:\.[^.]{0,3})?$/u.exec(name) ?? [];
  if (short === '') return false;
  const long = wanted.replace(/[. ]/g, '');
  return long.startsWith(short) || (long.startsWith(short.slice(0, 2)) && /^..[0-9a-f]{4}$/u.test(short));
}
