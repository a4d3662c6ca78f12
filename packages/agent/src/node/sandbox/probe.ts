import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readlinkSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AgentError } from '../../values/errors.ts';
import { mapOf, optional, read, text } from '../../values/input.ts';
import { findTool } from './find-tool.ts';
import { realOf } from './home.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Whether programs can be started in a sandbox on this machine. */
export type SandboxStatus =
  | { readonly works: true; readonly program: string; readonly version: string }
  | {
      readonly works: false;
      /** The reason why they cannot. */
      readonly reason: string;
      /** The command that installs or repairs a sandbox, or another solution. */
      readonly cure: string;
    };

const environment = mapOf(optional(text));
const timeoutMs = 10_000;
const namespaces = ['user', 'pid', 'net', 'mnt', 'ipc', 'uts'];

/** A command that reports what it sees from inside, and what it must see. */
interface SelfTest {
  readonly program: string;
  readonly args: readonly string[];
  read(output: string): SandboxStatus;
  end(): void;
}

/** Tests a sandbox: whether a program in it has namespaces of its own, and neither sees nor creates a file outside. */
export async function probeSandbox(env: Environment = process.env): Promise<SandboxStatus> {
  const test = selfTest(read(env, environment, 'env'));
  if ('works' in test) return test;
  try {
    const { stdout } = await promisify(execFile)(test.program, test.args, { env, timeout: timeoutMs });
    return test.read(stdout);
  } catch (error) {
    return failed(error);
  } finally {
    test.end();
  }
}

/** Like {@link probeSandbox}, but blocks until the test has ended. */
export function probeSandboxSync(env: Environment = process.env): SandboxStatus {
  const test = selfTest(read(env, environment, 'env'));
  if ('works' in test) return test;
  try {
    const stdio = ['ignore', 'pipe', 'pipe'] as ['ignore', 'pipe', 'pipe'];
    return test.read(
      execFileSync(test.program, test.args, { env, timeout: timeoutMs, encoding: 'utf8', stdio }),
    );
  } catch (error) {
    return failed(error);
  } finally {
    test.end();
  }
}

/** Returns the error for tools that must not start commands without a sandbox. */
export function noSandbox({ reason, cure }: { readonly reason: string; readonly cure: string }): AgentError {
  const message = `Commands cannot run in a sandbox here: ${reason}. To get a sandbox: ${cure}. If this machine is already a sandbox, such as a container, set sandbox: 'external'; to run commands with all of this user's permissions, set sandbox: 'off'.`;
  return new AgentError({ kind: 'invalid', code: 'no_sandbox', message });
}

function selfTest(env: Environment): SelfTest | SandboxStatus {
  if (process.platform !== 'linux') return unsupported();
  const { COBBLER_BWRAP: named } = env;
  const program = named === undefined ? findTool('bwrap', env) : realOf(named);
  if (program === undefined)
    return { works: false, reason: 'bubblewrap is not installed', cure: installBubblewrap() };
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'cobbler-probe-')));
  const [secret, planted] = [join(directory, 'secret'), join(directory, 'planted')];
  writeFileSync(secret, '');
  const script = `for name in ${namespaces.join(' ')}; do readlink /proc/self/ns/$name; done; [ -e ${secret} ] && echo seen; (: > ${planted}) 2>&- && echo written; bwrap --version`;
  const args = [
    ...['--unshare-all', '--unshare-user', '--disable-userns', '--die-with-parent', '--new-session'],
    ...['--cap-drop', 'ALL', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', '--tmpfs', directory],
    ...['--remount-ro', directory, '--', '/bin/sh', '-c', script],
  ];
  return {
    program,
    args,
    read: (output) => statusOf(program, output.trim().split('\n')),
    end: () => rmSync(directory, { recursive: true, force: true }),
  };
}

function statusOf(program: string, lines: readonly string[]): SandboxStatus {
  const outside = namespaces.map((name) => readlinkSync(`/proc/self/ns/${name}`));
  const shared = outside.filter((name) => lines.includes(name));
  const version = /bubblewrap (\S+)/.exec(lines.at(-1) ?? '')?.[1];
  if (shared.length === 0 && lines.length === namespaces.length + 1 && version !== undefined)
    return { works: true, program, version };
  const leaks = [...shared, ...lines.filter((line) => line === 'seen' || line === 'written')].join(', ');
  return { works: false, reason: `the self-test failed (${leaks || 'incomplete'})`, cure: reinstall };
}

const reinstall = 'install bubblewrap 0.8 or later';

function failed(error: unknown): SandboxStatus {
  const message = String((error as { stderr?: unknown }).stderr ?? error).trim();
  const [first = ''] = message.split('\n');
  const causes: readonly [RegExp, string, string][] = [
    [/unknown option/i, 'bubblewrap is too old', reinstall],
    [/setting up uid map|permission denied/i, 'the system forbids user namespaces', allowNamespaces()],
    [/no permissions to create/i, 'the system or container forbids user namespaces', allowNamespaces()],
    [/proc/i, 'this container hides parts of /proc', 'declare that the container is the sandbox'],
  ];
  const [, reason = 'bubblewrap does not work', cure = reinstall] =
    causes.find(([form]) => form.test(first)) ?? [];
  return { works: false, reason: `${reason} (${first.slice(0, 200)})`, cure };
}

function allowNamespaces(): string {
  return findTool('apparmor_parser', { PATH: '/sbin:/usr/sbin' }) === undefined
    ? 'sudo sysctl -w kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000'
    : 'sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0';
}

/** Returns the command that installs bubblewrap with the package manager of this machine. */
function installBubblewrap(): string {
  const managers = {
    'apt-get': 'sudo apt-get install -y bubblewrap',
    dnf: 'sudo dnf install -y bubblewrap',
    pacman: 'sudo pacman -S --noconfirm bubblewrap',
    zypper: 'sudo zypper install -y bubblewrap',
    apk: 'sudo apk add bubblewrap',
  };
  const found = Object.entries(managers).find(([name]) => findTool(name, {}) !== undefined);
  return found?.[1] ?? 'install the package bubblewrap';
}

function unsupported(): SandboxStatus {
  if (process.platform === 'darwin')
    return {
      works: false,
      reason: 'the sandbox for macOS has not been tested yet',
      cure: 'use Linux, or pass seatbeltSandbox to try that sandbox',
    };
  const wsl = process.platform === 'win32' ? 'use WSL 2' : 'use Linux';
  return { works: false, reason: `no sandbox supports ${process.platform} ${release()}`, cure: wsl };
}
