import type { ChildProcess } from 'node:child_process';
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import type { Server } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ProcessEnd } from '@cobbler/agent/node';
import { childEnvironment, superviseProcess } from '@cobbler/agent/node';
import type { SandboxOptions } from '@cobbler/agent/sandbox';
import { bwrapSandbox, probeSandboxSync } from '@cobbler/agent/sandbox';

/** Whether this machine has a sandbox. */
export const status: ReturnType<typeof probeSandboxSync> = probeSandboxSync();
if (!status.works)
  console.warn(`The tests of the sandbox do not run here: ${status.reason}. To run them: ${status.cure}.`);

export const isRoot: boolean = process.getuid?.() === 0;

/** Files in the home directory whose content no command may learn. */
export const secrets: readonly string[] = [
  ...['.ssh/id_ed25519', '.aws/credentials', '.netrc', '.config/gh/hosts.yml', '.git-credentials'],
  ...['.gnupg/private-keys', '.npmrc', '.bash_history', '.kube/config', '.docker/config.json'],
  ...['.mozilla/cookies.sqlite', '.cobbler/config.yaml', 'other/.env', '.cargo/credentials.toml'],
  ...['.local/share/keyrings/login.keyring', '.claude/.credentials.json', '.config/gcloud/token'],
];

/** Names that the tools for commands add. */
const agentFiles = ['.claude', 'claude.md', 'claude.local.md'];

/** A machine with a user, a project, other programs and servers. */
export interface World {
  /** Contains everything below. */
  readonly base: string;
  readonly home: string;
  readonly workspace: string;
  /** The value of every secret. */
  readonly token: string;
  /** A number of this machine. */
  readonly id: string;
  /** Starts a shell command in the workspace. */
  run(script: string, sandbox?: Partial<SandboxOptions>): Promise<ProcessEnd>;
  /** Starts the same without a sandbox. */
  runFree(script: string): Promise<ProcessEnd>;
  /** What a file outside the sandbox contains; undefined if it does not exist. */
  content(path: string): string | undefined;
  /** Whether the process with the secret still runs. */
  readonly victim: ChildProcess;
  close(): Promise<void>;
}

const git = (cwd: string, ...args: string[]) =>
  execFileSync('git', args, { cwd, stdio: 'ignore', env: { PATH: process.env['PATH'], HOME: cwd } });

/** Creates the files of a machine. */
function createFiles(base: string, token: string): void {
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), text);
  };
  for (const path of secrets) write(join('home', path), `${token}\n`);
  write(
    'home/.gitconfig',
    `[user]\n\tname = Ada\n\temail = ada@example.com\n[url "https://${token}@host"]\n\tinsteadOf = x\n`,
  );
  write('home/.bashrc', '# mine\n');
  write('home/.nvm/versions/node/v1/bin/tool', '#!/bin/sh\n');
  chmodSync(join(base, 'home/.nvm/versions/node/v1/bin/tool'), 0o755);
  write('outside/secret', `${token}\n`);
  write('outside/target', 'mine\n');
  const inProject = (path: string, text: string) => write(join('home/project', path), text);
  inProject('README.md', 'A project.\n');
  inProject('AGENTS.md', 'Be kind.\n');
  inProject('docs/rules.md', 'Be kind.\n');
  inProject('.github/workflows/ci.yml', 'on: push\n');
  inProject('.npmrc', 'fund=false\n');
  inProject('sub/deep/.envrc', 'true\n');
  const workspace = join(base, 'home/project');
  symlinkSync(join(base, 'outside'), join(workspace, 'out'));
  symlinkSync('docs/rules.md', join(workspace, 'CLAUDE.md'));
  git(workspace, 'init', '-q');
  git(workspace, 'add', '-A');
  git(workspace, '-c', 'user.name=Ada', '-c', 'user.email=ada@example.com', 'commit', '-qm', 'first');
}

async function listen(token: string, on: { host?: string; port?: number; path?: string }): Promise<Server> {
  const server = createServer((socket) => socket.on('error', () => {}).end(token));
  await new Promise<void>((resolve) => void server.listen(on, resolve));
  return server;
}

/** Creates a machine. */
export async function createWorld(): Promise<World> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'world-')));
  const token = `token${randomBytes(8).toString('hex')}`;
  createFiles(base, token);
  const id = String(86_000_000_000 + randomInt(1_000_000_000));
  const [home, workspace] = [join(base, 'home'), join(base, 'home/project')];
  const victim = spawn(
    '/bin/sh',
    ['-c', `exec 3<'${base}/outside/secret'; cd '${home}'; while :; do sleep 5; done`, token],
    {
      env: { PATH: process.env['PATH'], KEY: token },
      stdio: 'ignore',
    },
  );
  const abstract = `world-${id}`;
  const servers = await Promise.all([
    listen(token, { host: '127.0.0.1', port: 0 }),
    listen(token, { path: join(base, 'socket') }),
    listen(token, { path: `\0${abstract}` }),
  ]);
  const address = servers[0]?.address();
  const shared = [`/dev/shm/world-${id}`, `/var/tmp/world-${id}`];
  for (const path of shared) writeFileSync(path, `${token}\n`);
  const environment = childEnvironment(process.env, {
    HOME: home,
    BASE: base,
    OUT: join(base, 'outside'),
    VICTIM: String(victim.pid),
    PORT: String(typeof address === 'object' ? address?.port : ''),
    ABSTRACT: abstract,
    NODE: process.execPath,
    ID: id,
    SHM: shared[0] ?? '',
    VARTMP: shared[1] ?? '',
    PATH: `${home}/.nvm/versions/node/v1/bin:${process.env['PATH']}`,
  });
  const start = (script: string, sandbox?: ReturnType<typeof bwrapSandbox>) =>
    superviseProcess({
      argv: ['/bin/sh', '-c', `exec 2>&1; ${script}`],
      cwd: workspace,
      env: environment,
      timeoutMs: 60_000,
      graceMs: 200,
      ...(sandbox && { sandbox }),
    }).ended;
  return {
    base,
    home,
    workspace,
    token,
    id,
    victim,
    runFree: (script) => start(script),
    run: (script, options) =>
      start(
        script,
        bwrapSandbox(
          { workspace, env: environment, guarded: agentFiles, ...options },
          status.works ? status.program : 'bwrap',
        ),
      ),
    content: (path) => contentOf(join(base, path)),
    async close() {
      victim.kill('SIGKILL');
      for (const one of servers) one.close();
      for (const path of shared) rmSync(path, { force: true });
      rmSync(base, { recursive: true, force: true });
    },
  };
}

function contentOf(path: string): string | undefined {
  if (!existsSync(path)) return undefined;
  return lstatSync(path).isDirectory() ? readdirSync(path).sort().join('\n') : readFileSync(path, 'utf8');
}

/** Returns the ids of running processes whose command line contains a text. */
export function processesWith(text: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);
}
