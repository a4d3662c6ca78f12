import { existsSync, statSync, utimesSync } from 'node:fs';
import { totalmem } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { defined } from '../../values/defined.ts';
import { AgentError } from '../../values/errors.ts';
import { oneOf, optional, read, text } from '../../values/input.ts';
import type { ProgramStart, Sandbox, SandboxedStart } from '../process/sandbox.ts';
import { throughProxy } from './bridge.ts';
import type { SandboxRights } from './bwrap.ts';
import { bwrapOptions } from './bwrap.ts';
import { findTool } from './find-tool.ts';
import { gitControls, gitDirectories } from './git.ts';
import type { GuardedFile } from './guarded-files.ts';
import { block, fileAt, GuardedFiles, undoAt } from './guarded-files.ts';
import { realOf } from './home.ts';
import type { HostNetwork } from './host-proxy.ts';
import type { SandboxOptions } from './options.ts';
import { programStart, sandboxAccess, sandboxOptions } from './options.ts';
import type { SandboxPlaces } from './places.ts';
import { createPlaces } from './places.ts';
import type { SandboxStatus } from './probe.ts';
import { noSandbox, probeSandboxSync } from './probe.ts';
import { loginFile } from './registry.ts';
import { seatbeltProfile } from './seatbelt.ts';

/** The results of the self-test, by the program that the environment names. */
const tested: Map<string | undefined, SandboxStatus> = new Map();

/**
 * Creates a sandbox for a workspace, after a self-test that runs once per process and blocks for about 20 ms. Programs
 * in it see an empty home directory and an empty `/tmp`, apart from toolchains and the user's name in git. They can write
 * only in the workspace, except for what other programs execute or obey, such as `.git`, and have no network.
 * @throws AgentError `invalid` with the code `no_sandbox` if there is no working sandbox here, with the reason and the
 * command that installs it.
 */
export function createSandbox(options: SandboxOptions): Sandbox {
  const given = read(options, sandboxOptions);
  const { COBBLER_BWRAP: named } = given.env ?? process.env;
  const status = tested.get(named) ?? probeSandboxSync(given.env);
  tested.set(named, status);
  if (!status.works) throw noSandbox(status);
  return bwrapSandbox(given, status.program);
}

/**
 * Creates a bubblewrap sandbox without a self-test. To test it, use {@link probeSandbox}.
 * @param program the path of bwrap, version 0.8 or later.
 */
export function bwrapSandbox(options: SandboxOptions, program: string): Sandbox {
  return osSandbox('bwrap', options, read(program, text, 'program'));
}

/** Creates a `sandbox-exec` sandbox on macOS. It has not been tested yet, so you must pass it explicitly to use it. */
export function seatbeltSandbox(options: SandboxOptions): Sandbox {
  return osSandbox('seatbelt', options, '/usr/bin/sandbox-exec');
}

/** Returns a sandbox that restricts nothing. `missing` is the reason if one was wanted. */
export function noRestrictions(kind: 'external' | 'off', missing?: string): Sandbox {
  read(kind, oneOf('external', 'off'), 'kind');
  read(missing, optional(text), 'missing');
  const sandbox: Sandbox = {
    kind,
    ...defined({ missing }),
    enter: (start) => start,
    with: () => sandbox,
    explain: () => undefined,
  };
  return sandbox;
}

/** The same in a sandbox and in those made from it. */
interface Shared {
  readonly kind: 'bwrap' | 'seatbelt';
  readonly options: SandboxOptions;
  readonly program: string;
  readonly workspace: string;
  readonly limits: readonly string[];
  readonly files: GuardedFiles;
  /** The hosts that programs without the right to the whole network can connect to. */
  readonly network?: HostNetwork;
  /** Created when the first program starts. */
  places?: SandboxPlaces;
}

function osSandbox(kind: Shared['kind'], given: SandboxOptions, program: string): Sandbox {
  const options = read(given, sandboxOptions);
  const workspace = realOf(options.workspace);
  if (workspace === undefined || workspace === '/') {
    const message = `The workspace ${JSON.stringify(options.workspace)} cannot be sandboxed. Use an existing directory other than the root.`;
    throw new AgentError({ kind: 'invalid', code: 'workspace', message });
  }
  const { mode = 'workspace', network = false, git = false, nested = false } = options;
  const hosts = typeof network === 'object' && network.hosts.length > 0 ? { network } : {};
  if (kind === 'seatbelt' && typeof network === 'object') {
    const message = 'network.hosts needs bubblewrap. On macOS, set network to true or false.';
    throw new AgentError({ kind: 'invalid', code: 'bad_option', message });
  }
  const files = new GuardedFiles(workspace, options.guarded ?? []);
  return confined(
    { kind, options, program, workspace, files, limits: limitsOf(options), ...hosts },
    { mode, network: network === true, git, registry: false, nested },
  );
}

function confined(shared: Shared, rights: SandboxRights): Sandbox {
  const hosts = rights.network ? ['*'] : shared.network?.hosts;
  return {
    kind: shared.kind,
    ...defined({ hosts }),
    enter: (start) => enter(shared, rights, read(start, programStart, 'start')),
    with: (access) => confined(shared, { ...rights, ...read(access, sandboxAccess, 'access') }),
    explain: (output) => explainRefusal(read(output, text, 'output'), shared, rights, hosts),
  };
}

function enter(shared: Shared, rights: SandboxRights, { argv, cwd, env }: ProgramStart): SandboxedStart {
  shared.places ??= createPlaces(shared.options);
  const { places, program, limits, files } = shared;
  const since = touch(places.empty);
  const { TMP: _, TEMP: __, ...rest } = env;
  const inside = {
    ...rest,
    TMPDIR: '/tmp',
    npm_config_update_notifier: 'false',
    COBBLER_SANDBOX: 'external',
  };
  if (shared.kind === 'seatbelt') {
    const profile = seatbeltProfile(places, rights, files.find(since));
    const own = { HOME: places.home, TMPDIR: places.temporary };
    return { argv: [program, '-p', profile, ...argv], cwd, env: { ...inside, ...own } };
  }
  const guarded = rights.mode === 'strict' ? [] : files.find(since);
  const options = bwrapOptions(places, rights, guarded);
  const missing = rights.git ? missingControls(guarded) : [];
  const locked = places.locked.map((path) => [path, fileAt(path)] as const);
  const proxied =
    rights.network || shared.network === undefined
      ? undefined
      : throughProxy(shared.network, dirname(places.empty), argv);
  const { mounts = [], argv: own = argv } = proxied ?? {};
  return {
    argv: [program, ...options, ...mounts, '--chdir', cwd, '--', ...limits, ...own],
    cwd,
    env: { ...inside, ...proxied?.env },
    leave: () => [
      ...(proxied?.close() ?? []),
      ...(rights.mode === 'workspace' ? undo(shared, missing, () => files.undo(guarded, since)) : []),
      ...undo(shared, [], () => locked.flatMap(([path, before]) => undoAt(path, before))),
    ],
  };
}

/** Returns the current time of the file system, which can differ from that of the clock. */
function touch(path: string): number {
  utimesSync(path, 0, 0);
  return statSync(path).ctimeMs;
}

/** Returns the files that control git, that do not exist and that a program can create. */
function missingControls(guarded: readonly GuardedFile[]): string[] {
  return guarded
    .filter(({ path }) => basename(path).toLowerCase() === '.git')
    .flatMap(({ path }) => gitDirectories(path))
    .flatMap((directory) => gitControls.map((name) => join(directory, name)))
    .filter((path) => !existsSync(path));
}

/** Undoes changes of protected files that could not be prevented. Never throws. */
function undo({ workspace }: Shared, missing: readonly string[], undoFiles: () => string[]): string[] {
  try {
    const planted = missing.filter((path) => existsSync(path));
    return [...undoFiles(), ...planted.flatMap((path) => block(workspace, path))];
  } catch (error) {
    return [`Protected files may have been changed, and Cobbler could not restore them: ${String(error)}`];
  }
}

function limitsOf({
  env = process.env,
  maxProcesses = 4096,
  maxMemoryBytes = totalmem(),
}: SandboxOptions): string[] {
  const prlimit = findTool('prlimit', env);
  if (prlimit === undefined) return [];
  const memory = maxMemoryBytes > 0 ? [`--data=${maxMemoryBytes}`] : [];
  return [prlimit, '--core=0', `--nproc=${maxProcesses}`, ...memory];
}

const noNetwork =
  /ENETUNREACH|EAI_AGAIN|ENOTFOUND|network is unreachable|could(?:n't| not) resolve|name resolution|name or service not known|no address associated/i;
const noLogin = /\bE40[13]\b|ENEEDAUTH|ERR_PNPM_FETCH_40[134]|YN0041/;
const noWrite = /EROFS|read-only file system/i;
const busy = /EBUSY|device or resource busy/i;
const noProcess = /can(?:no|')t fork|fork: retry|spawn.*EAGAIN|resource temporarily unavailable/i;

/**
 * Returns which rule of the sandbox probably stopped a program that printed this; undefined if none did. The system
 * reports the same errors for other reasons too.
 */
function explainRefusal(
  output: string,
  { workspace, places }: Shared,
  { network: hasNetwork, registry }: SandboxRights,
  hosts?: readonly string[],
): string | undefined {
  const lines = output.split('\n');
  const find = (pattern: RegExp) => lines.findLast((line) => pattern.test(line));
  if (!hasNetwork && find(noNetwork) !== undefined)
    return hosts === undefined
      ? 'The sandbox has no network.'
      : `The sandbox allows only connections through the proxy in HTTPS_PROXY, to ${hosts.join(', ')}.`;
  if (!registry && find(noLogin) !== undefined && loginFile(places?.realHome) !== undefined)
    return 'The sandbox hides the login to the registry in ~/.npmrc, which `needs: "registry"` allows package managers to read.';
  const written = find(noWrite);
  if (written !== undefined) return writeRule(written, workspace);
  if (find(busy) !== undefined)
    return 'The sandbox does not let commands move or delete protected files or the directories that contain them.';
  return find(noProcess) === undefined ? undefined : 'The sandbox limits the number of processes.';
}

function writeRule(line: string, workspace: string): string {
  const [path] = /\/[^'"’`:\s]+/.exec(line) ?? [];
  if (/\.git\b/.test(line))
    return 'The sandbox protects .git. Only a command line that consists entirely of git commands, such as git add and git commit, can change it; no command can change its hooks or configuration.';
  if (path === undefined) return 'The sandbox lets commands write only to the workspace and to /tmp.';
  return path.startsWith(workspace)
    ? `The sandbox protects ${path}: other programs execute it or take instructions from it.`
    : `The sandbox lets commands write only to the workspace and to /tmp, not to ${path}.`;
}
