import { existsSync, lstatSync, realpathSync } from 'node:fs';
import { basename, delimiter, dirname, join, relative, sep } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** Directories that contain data of users, services or other file systems. */
const hiddenDirectories = ['/home', '/root', '/mnt', '/media', '/srv', '/run', '/var/tmp', '/tmp'];

/** Files of the system that only root can read. */
export const hiddenFiles: readonly string[] = ['/etc/shadow', '/etc/gshadow', '/etc/sudoers'];

/** Locations of toolchains and their packages in a home directory. None of them contains keys. */
const toolchains = [
  ...['.asdf', '.bun/bin', '.bun/install', '.cargo/bin', '.cargo/git', '.cargo/registry', '.deno', '.fnm'],
  ...[
    '.local/bin',
    '.local/lib',
    '.local/pipx/venvs',

    '.local/share/fnm',
    '.local/share/mise',
  ],
  ...['.local/share/pipx/venvs', '.local/share/pnpm', '.local/share/uv', '.npm-global', '.nvm', '.pyenv'],
  ...['.rbenv', '.rustup', '.sdkman', '.volta', '.config/git/attributes', '.config/git/ignore', 'go'],
];

/** Returns whether a path is a directory or is inside it. */
export function isInside(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** Returns the real path; undefined if the path does not exist. */
export function realOf(path: string | undefined): string | undefined {
  try {
    return path === undefined ? undefined : realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** Returns the directories to hide, by their real paths, without those inside others. */
export function hiddenFrom(homes: readonly string[], sealed: readonly string[]): string[] {
  const candidates = [...hiddenDirectories, ...homes, ...sealed].flatMap((path) => realOf(path) ?? []);
  const directories = [...new Set(candidates)].filter(
    (path) => path !== '/' && lstatSync(path).isDirectory(),
  );
  return directories.filter((path) => !directories.some((other) => other !== path && isInside(path, other)));
}

/** The directories of one machine that decide what is shown. */
interface Places {
  readonly home: string | undefined;
  readonly hidden: readonly string[];
  readonly sealed: readonly string[];
}

/** Returns the toolchains to show again: those of the home directory, those on the PATH, and certificates. */
export function toolchainPaths(env: Environment, { home, hidden, sealed }: Places): string[] {
  const known = home === undefined ? [] : toolchains.map((name) => join(home, name));
  const onPath = (env['PATH'] ?? '').split(delimiter).flatMap((path) => withParent(realOf(path), home));
  const files = ['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS'].flatMap((name) => env[name] ?? []);
  const system = [realOf('/etc/resolv.conf') ?? '', '/run/current-system', '/home/linuxbrew/.linuxbrew'];
  const node = [...withParent(dirname(process.execPath), home), process.execPath];
  const all = [...known, ...onPath, ...node, ...files, ...system];
  const isHidden = (path: string) => hidden.some((one) => isInside(path, one) && path !== one);
  const isKey = (path: string) => sealed.some((one) => isInside(path, one) || isInside(one, path));
  return [...new Set(all)]
    .filter((path) => path.startsWith('/') && isHidden(path) && !isKey(path) && existsSync(path))
    .sort();
}

/** Programs in a directory `bin` need the files next to it, but a directory close to home can contain keys. */
function withParent(path: string | undefined, home: string | undefined): string[] {
  if (path === undefined) return [];
  const depth = home !== undefined && isInside(path, home) ? relative(home, path).split(sep).length : 0;
  return basename(path) === 'bin' && depth > 2 ? [path, dirname(path)] : [path];
}
