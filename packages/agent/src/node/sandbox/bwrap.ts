import { existsSync, lstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gitControls, gitDirectories } from './git.ts';
import type { GuardedFile } from './guarded-files.ts';
import { hiddenFiles, isInside, realOf } from './home.ts';
import type { SandboxPlaces } from './places.ts';
import { loginFile } from './registry.ts';

/** What programs can do in the sandbox. */
export interface SandboxRights {
  readonly mode: 'workspace' | 'strict';
  readonly network: boolean;
  readonly git: boolean;
  readonly registry: boolean;
  readonly nested: boolean;
}

const isolation = [
  '--unshare-user',
  '--unshare-ipc',
  '--unshare-pid',
  '--unshare-uts',
  '--unshare-cgroup-try',
];
/** Without capabilities, a process with the user id 0 could not create a sandbox that contains this id. */
const notRoot = process.getuid?.() === 0 ? ['--uid', '1000', '--gid', '1000'] : [];
const ending = ['--die-with-parent', '--new-session', '--cap-drop', 'ALL'];
const system = ['--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev'];

/** Settings of the kernel in /proc that root can write without any capability. bwrap leaves most of them writable. */
const kernelSettings = ['acpi', 'driver', 'fs', 'mtrr', 'scsi', 'sys', 'sysrq-trigger']
  .map((name) => `/proc/${name}`)
  .filter((path) => existsSync(path))
  .flatMap((path) => ['--ro-bind', path, path]);

/** Returns the options of bwrap. Later mounts cover earlier ones. */
export function bwrapOptions(
  places: SandboxPlaces,
  rights: SandboxRights,
  guarded: readonly GuardedFile[],
): string[] {
  const { workspace, temporary, home, realHome, gitconfig, empty, shown, sealed, write, locked } = places;
  const hidden = places.hidden.filter((path) => path !== '/tmp');
  const hasHome = realHome !== undefined && !isInside(realHome, workspace);
  const covered = [...(realHome === undefined ? [] : [realHome]), workspace, ...write];
  const logins = rights.registry ? [loginFile(realHome)].filter((path) => path !== undefined) : [];
  const isStrict = rights.mode === 'strict';
  return [
    ...isolation,
    ...(rights.nested ? notRoot : ['--disable-userns']),
    ...(rights.network ? [] : ['--unshare-net']),
    ...ending,
    ...system,
    ...kernelSettings,
    ...hidden.flatMap((path) => ['--tmpfs', path]),
    ...hiddenFiles.filter((path) => existsSync(path)).flatMap((path) => ['--ro-bind', empty, path]),
    ...['--bind', temporary, '/tmp'],
    ...(hasHome ? ['--bind', home, realHome, '--ro-bind', gitconfig, join(realHome, '.gitconfig')] : []),
    ...[...shown, ...logins].flatMap((path) => ['--ro-bind-try', path, path]),
    ...[isStrict ? '--ro-bind' : '--bind', workspace, workspace],
    ...write.flatMap((path) => ['--bind', path, path]),
    ...locked.flatMap((path) => realOf(path) ?? []).flatMap((path) => ['--ro-bind', path, path]),
    ...sealed
      .filter((path) => [workspace, ...shown, ...write].some((one) => isInside(path, one)))
      .flatMap((path) => conceal(path, empty)),
    ...protect(places, rights, guarded),
    // At the end, because bwrap creates mount points in them.
    ...hidden
      .filter((path) => !covered.some((one) => isInside(path, one)))
      .flatMap((path) => ['--remount-ro', path]),
  ];
}

function conceal(path: string, empty: string): string[] {
  return lstatSync(path).isDirectory() ? ['--tmpfs', path] : ['--ro-bind', empty, path];
}

/**
 * Makes guarded files read-only. Each directory above one becomes a mount point, because otherwise a program could
 * rename it and put another in its place.
 */
function protect(
  { workspace }: SandboxPlaces,
  rights: SandboxRights,
  guarded: readonly GuardedFile[],
): string[] {
  const pins = new Set<string>();
  const readOnly: string[] = [];
  const mounts: string[] = [];
  const guard = (path: string) => {
    for (const directory of directoriesAbove(path, workspace)) pins.add(directory);
    readOnly.push(path);
  };
  for (const { path, link } of guarded) {
    const target = link === undefined ? path : realOf(path);
    if (target === undefined || !isInside(target, workspace) || isInside(workspace, target)) continue;
    if (basename(path).toLowerCase() !== '.git') guard(target);
    else if (rights.git) openGit(target, { workspace, pins, mounts, guard });
    else {
      guard(target);
      for (const directory of gitDirectories(target))
        if (!isInside(directory, workspace)) mounts.push('--ro-bind', directory, directory);
    }
  }
  const bind = (option: string) => (path: string) => [option, path, path];
  return [...[...pins].sort().flatMap(bind('--bind')), ...readOnly.flatMap(bind('--ro-bind')), ...mounts];
}

interface Protection {
  readonly workspace: string;
  readonly pins: Set<string>;
  readonly mounts: string[];
  guard(path: string): void;
}

/** Lets git write its data, but neither its hooks nor its configuration. */
function openGit(path: string, { workspace, pins, mounts, guard }: Protection): void {
  const directories = gitDirectories(path);
  if (!directories.includes(path)) guard(path);
  for (const directory of directories) {
    if (isInside(directory, workspace))
      for (const one of [...directoriesAbove(directory, workspace), directory]) pins.add(one);
    else mounts.push('--bind', directory, directory);
    for (const name of gitControls) {
      const control = join(directory, name);
      if (existsSync(control)) mounts.push('--ro-bind', control, control);
    }
  }
}

/** Returns the directories between a path and the workspace, both excluded. */
function directoriesAbove(path: string, workspace: string): string[] {
  const directory = dirname(path);
  return isInside(directory, workspace) && directory !== workspace
    ? [...directoriesAbove(directory, workspace), directory]
    : [];
}
