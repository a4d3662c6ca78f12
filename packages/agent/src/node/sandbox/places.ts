import { lstatSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { homesOf, realAsFar, sealedPaths } from '../protected-paths.ts';
import { gitIdentity } from './git.ts';
import { hiddenFrom, isInside, realOf, toolchainPaths } from './home.ts';
import type { SandboxOptions } from './options.ts';

/** The paths that a sandbox hides, shows and replaces. All are real paths. */
export interface SandboxPlaces {
  readonly workspace: string;
  /** Directories that appear empty. */
  readonly hidden: readonly string[];
  /** Locations of keys. */
  readonly sealed: readonly string[];
  /** Paths in hidden directories that programs can read. */
  readonly shown: readonly string[];
  /** Further directories that programs can write. */
  readonly write: readonly string[];
  /** Paths in these directories that programs can only read. The last name can be that of a symbolic link. */
  readonly locked: readonly string[];
  /** The user's home directory. */
  readonly realHome: string | undefined;
  /** What programs see as the home directory. */
  readonly home: string;
  /** What programs see as `/tmp`. */
  readonly temporary: string;
  readonly gitconfig: string;
  /** An empty file. */
  readonly empty: string;
}

/** Finds the paths of a sandbox and creates its directories, which are removed when this process exits. */
export function createPlaces(options: SandboxOptions): SandboxPlaces {
  const { env = process.env } = options;
  const own = temporaryDirectory();
  const [temporary, empty, gitconfig] = [join(own, 'tmp'), join(own, 'empty'), join(own, 'gitconfig')];
  const home = options.home ?? join(own, 'home');
  mkdirSync(temporary, { mode: 0o700 });
  mkdirSync(home, { recursive: true, mode: 0o700 });
  writeFileSync(empty, '', { mode: 0o444 });
  writeFileSync(gitconfig, gitIdentity(env), { mode: 0o444 });
  for (const path of options.write ?? []) keepLink(path, env['HOME'], home);
  const sealed = sealedPaths(env);
  const realHome = realOf(env['HOME']);
  const homes = realHome === undefined ? homesOf(env) : [realHome, ...homesOf(env)];
  const hidden = hiddenFrom([...homes, tmpdir()], sealed);
  const real = (paths: readonly string[] = []) => paths.flatMap((path) => realOf(path) ?? []);
  return {
    workspace: realpathSync.native(options.workspace),
    hidden,
    sealed: real(sealed),
    shown: [...toolchainPaths(env, { home: realHome, hidden, sealed }), ...real(options.read)],
    write: real(options.write),
    locked: (options.locked ?? []).map((path) => join(realAsFar(dirname(path)), basename(path))),
    realHome,
    home,
    temporary,
    gitconfig,
    empty,
  };
}

/** Gives a link from the user's home directory the same place in the one that programs see. */
function keepLink(path: string, userHome: string | undefined, home: string): void {
  const target = realOf(path);
  if (userHome === undefined || target === undefined || target === path || !isInside(path, userHome)) return;
  const link = join(home, relative(userHome, path));
  mkdirSync(dirname(link), { recursive: true, mode: 0o700 });
  if (lstatSync(link, { throwIfNoEntry: false }) === undefined) symlinkSync(target, link);
}

const temporaryDirectories: Set<string> = new Set();

function temporaryDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'cobbler-sandbox-')));
  if (temporaryDirectories.size === 0) process.once('exit', removeAll);
  temporaryDirectories.add(directory);
  return directory;
}

function removeAll(): void {
  for (const directory of temporaryDirectories) {
    try {
      rmSync(directory, { recursive: true, force: true });
    } catch {
      // Left to the system, as other temporary files.
    }
  }
}
