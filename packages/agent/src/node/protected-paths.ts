import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { Environment } from '../interfaces/config.ts';
import { cobblerHome } from './config-file.ts';

/** Below the home folder: keys and sign-ins. */
const sealedInHome = [
  ...['.aws', '.azure', '.config/gcloud', '.config/gh', '.docker', '.gnupg', '.kube', '.netrc', '.ssh'],
  ...['.config/BraveSoftware', '.config/chromium', '.config/google-chrome', '.mozilla', 'Library/Keychains'],
  ...['.local/share/keyrings', '.git-credentials', '_netrc'],
  ...['Library/Application Support/Firefox', 'Library/Application Support/Google/Chrome'],
];

/** Sealed wherever they stand: nothing but keys has these names. */
const sealedAnywhere: ReadonlySet<string> = new Set(['.gnupg', '.netrc', '.ssh']);

/** Below the home folder: started with the session or a shell. */
const guardedInHome = [
  ...['.config/autostart', '.config/fish', '.config/git', '.config/systemd', '.local/bin'],
  'Library/LaunchAgents',
];

/** Other programs run or obey these, in whatever folder they stand. */
const guardedAnywhere: ReadonlySet<string> = new Set([
  ...['.agents', '.cobbler', '.codex', '.cursor', '.devcontainer', '.gemini', '.git', '.github'],
  ...['.githooks', '.husky', '.idea', '.opencode', '.vscode', 'agents.md', 'agents.override.md'],
  ...['.envrc', '.gitattributes', '.gitconfig', '.gitlab-ci.yml', '.gitmodules'],
  ...['.mcp.json', '.npmrc', '.pre-commit-config.yaml', '.yarnrc', '.yarnrc.yml', 'lefthook.yml'],
  ...['.bash_login', '.bash_logout', '.bash_profile', '.bashrc', '.inputrc', '.kshrc', '.profile'],
  ...['.zlogin', '.zlogout', '.zprofile', '.zshenv', '.zshrc'],
]);

/** A file of this name is what makes git take its folder for a repository. */
const guardedFiles = ['head', 'commondir'];

/**
 * Paths that the tools of one workspace treat with care. *Sealed* ones hold keys and Cobbler's own files: no tool
 * opens them. *Guarded* ones are run or obeyed by other programs: a person looks at each write.
 *
 * Paths are compared the way the most lenient file system does it: without case, in NFC, without invisible
 * characters, without what Windows drops at the end of a name, and by short names of eight characters.
 */
export class ProtectedPaths {
  readonly #root: string;
  readonly #sealed: readonly (readonly string[])[];
  readonly #guarded: readonly (readonly string[])[];

  /** @param root the real path of the workspace. */
  constructor(root: string, env: Environment) {
    this.#root = root;
    const homes = homesOf(env);
    const below = (names: readonly string[]) =>
      homes.flatMap((home) => names.map((name) => join(home, name)));
    const own = [cobblerHome(env), ...homes.map((home) => join(home, '.cobbler'))];
    const sealed = [...below(sealedInHome), ...own.filter((path) => path !== undefined)];
    this.#sealed = withRealPaths(sealed).map(namesOf);
    this.#guarded = withRealPaths(below(guardedInHome)).map(namesOf);
  }

  /** Whether a real path is, or lies in, what no tool may open. */
  isSealed(real: string): boolean {
    const names = namesOf(real);
    return (
      names.some((name) => meansOne(name, sealedAnywhere)) ||
      this.#sealed.some((sealed) => beginsWith(names, sealed))
    );
  }

  /** Whether a real path is a folder above what no tool may open, known by its place: what searches it finds keys. */
  holdsSealed(real: string): boolean {
    const names = namesOf(real);
    return this.#sealed.some((sealed) => names.every((name, index) => means(name, sealed[index] ?? '')));
  }

  /**
   * The part of a real path in the workspace for which a person has to look at a write; nothing: an ordinary file.
   * @param more further guarded names, in lower case.
   */
  guardIn(real: string, more: readonly string[]): string | undefined {
    const below = relative(this.#root, real).split(sep);
    const guarded = new Set([...guardedAnywhere, ...more]);
    const found = below.findIndex((name) => meansOne(plain(name), guarded));
    if (found >= 0) return below.slice(0, found + 1).join('/');
    const isGuarded =
      guardedFiles.includes(plain(below.at(-1) ?? '')) ||
      this.#guarded.some((path) => beginsWith(namesOf(real), path)) ||
      this.#root.split(sep).some((name) => means(plain(name), '.git')) ||
      isInRepository(real);
    return isGuarded ? below.join('/') : undefined;
  }
}

/** A folder may be a repository of any name: a `.git` file leads to it, or git finds it without a work tree. */
function isInRepository(real: string): boolean {
  for (let at = dirname(real); ; at = dirname(at)) {
    const has = (name: string) => existsSync(join(at, name));
    if (has('HEAD') && (has('commondir') || (has('objects') && has('refs')))) return true;
    if (dirname(at) === at) return false;
  }
}

/** The variables and the system may name different home folders; all of them count. */
function homesOf(env: Environment): string[] {
  const homes = [env['HOME'], env['USERPROFILE'], systemHome()].flatMap((home) =>
    home ? [resolve(home)] : [],
  );
  return [...new Set(homes)];
}

function systemHome(): string | undefined {
  try {
    return homedir();
  } catch {
    return undefined;
  }
}

/** The paths as they are written, and where they lead now. */
function withRealPaths(paths: readonly string[]): string[] {
  return [...new Set(paths.flatMap((path) => [resolve(path), realAsFar(resolve(path))]))];
}

/** The real path of an absolute one as far as it exists. */
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

/** Whether the last part that exists, of a path from {@link realAsFar}, is a link: one that leads to nothing. */
export function hasLink(real: string): boolean {
  for (let at = real; dirname(at) !== at; at = dirname(at)) {
    try {
      return lstatSync(at).isSymbolicLink();
    } catch {
      // It does not exist yet: what matters is the folder that it is to stand in.
    }
  }
  return false;
}

function namesOf(path: string): string[] {
  return path.split(sep).filter(Boolean).map(plain);
}

/** A name as the most lenient file system understands it. A colon begins the name of a stream. */
function plain(name: string): string {
  // Nearly every name is an easy one, and there may be very many of them.
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

/** Whether a plain name is this one, or its short form: `GIT~1`, or `GI7EBA~1` when several begin alike. */
function means(name: string, wanted: string): boolean {
  if (name === wanted) return true;
  if (!name.includes('~')) return false;
  const [, short = ''] = /^([^~]{2,6})~\d{1,4}(?:\.[^.]{0,3})?$/u.exec(name) ?? [];
  if (short === '') return false;
  const long = wanted.replace(/[. ]/g, '');
  return long.startsWith(short) || (long.startsWith(short.slice(0, 2)) && /^..[0-9a-f]{4}$/u.test(short));
}
