import type { ChildProcess } from 'node:child_process';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';

const run = promisify(execFile);

/** A PostgreSQL server on the loopback interface, in a temporary directory. */
export interface PostgresServer {
  readonly url: string;
  readonly port: number;
  /** Executes a statement and returns its rows. */
  sql(text: string): Promise<readonly Record<string, unknown>[]>;
  /** Stops the server as in a crash, and starts it again with the same data. */
  crash(betweenMs?: number): Promise<void>;
  stop(): Promise<void>;
}

/** A pooler in transaction mode in front of a server. */
export interface Pooler {
  readonly url: string;
  stop(): Promise<void>;
}

/** Returns how to install PostgreSQL; undefined if it is installed. */
export function missingPostgres(): string | undefined {
  if (binaries() !== undefined) return undefined;
  return 'no PostgreSQL is installed here (Debian: apt-get install postgresql; elsewhere: set COBBLER_POSTGRES_BIN to the folder of initdb and postgres)';
}

export function missingPooler(): string | undefined {
  return poolerBinary() === undefined
    ? 'no pgbouncer is installed here (Debian: apt-get install pgbouncer)'
    : undefined;
}

/** Starts a server. With `durable`, commits are flushed to disk, as in production. */
export async function startPostgres({
  durable = false,
}: {
  readonly durable?: boolean;
} = {}): Promise<PostgresServer> {
  const bin = binaries();
  if (bin === undefined) throw new Error(missingPostgres());
  const home = mkdtempSync(join(tmpdir(), 'cobbler-postgres-'));
  const user = unprivileged();
  if (user !== undefined) chownSync(home, user.uid, user.gid);
  const data = join(home, 'data');
  const env = { ...process.env, LC_ALL: 'C', HOME: home };
  await run(join(bin, 'initdb'), ['-D', data, '-U', 'cobbler', '-A', 'trust', '-E', 'UTF8', '--no-sync'], {
    env,
    cwd: home,
    ...user,
  });
  const port = await freePort();
  const settings: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: home,
    max_connections: '200',
    ...(durable ? {} : { fsync: 'off', full_page_writes: 'off' }),
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const url = `postgres://cobbler@127.0.0.1:${port}/postgres`;
  let child: ChildProcess;
  const start = async (): Promise<void> => {
    child = spawn(join(bin, 'postgres'), ['-D', data, ...options], {
      env,
      cwd: home,
      stdio: 'ignore',
      ...user,
    });
    await answers(url, child);
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  await start();
  return {
    url,
    port,
    async sql(text) {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      try {
        return (await client.query(text)).rows;
      } finally {
        await client.end();
      }
    },
    async crash(betweenMs = 0) {
      // Stops immediately without a checkpoint. SIGKILL would leave child processes running.
      await end('SIGQUIT');
      await new Promise((resolve) => setTimeout(resolve, betweenMs));
      await start();
    },
    async stop() {
      await end('SIGINT');
      rmSync(home, { recursive: true, force: true });
    },
  };
}

export async function startPooler(server: PostgresServer): Promise<Pooler> {
  const binary = poolerBinary();
  if (binary === undefined) throw new Error(missingPooler());
  const home = mkdtempSync(join(tmpdir(), 'cobbler-pooler-'));
  const user = unprivileged();
  const port = await freePort();
  const file = join(home, 'pgbouncer.ini');
  writeFileSync(
    file,
    `[databases]
postgres = host=127.0.0.1 port=${server.port} user=cobbler
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 200
ignore_startup_parameters = extra_float_digits
logfile = ${join(home, 'log')}
`,
  );
  if (user !== undefined) for (const path of [home, file]) chownSync(path, user.uid, user.gid);
  const child = spawn(binary, ['-q', file], { stdio: 'ignore', cwd: home, ...user });
  const url = `postgres://cobbler@127.0.0.1:${port}/postgres`;
  await answers(url, child);
  return {
    url,
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      rmSync(home, { recursive: true, force: true });
    },
  };
}

async function answers(url: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    // A connection to a server that is still starting also emits an error event.
    client.on('error', () => {});
    try {
      await client.connect();
      await client.end();
      return;
    } catch (error) {
      if (child.exitCode !== null || Date.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

let asked = 0;

/**
 * Returns a port that stays free until the caller uses it: below the range from which systems
 * assign ports, and from a different part of it in every process.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    asked += 1;
    const port = 10_000 + ((process.pid * 16 + asked) % 20_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

function binaries(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian)
    ? readdirSync(debian).sort((one, other) => Number(other) - Number(one))
    : [];
  const folders = [
    process.env['COBBLER_POSTGRES_BIN'],
    ...versions.map((version) => join(debian, version, 'bin')),
    ...(process.env['PATH'] ?? '').split(':'),
  ];
  return folders.find(
    (folder) =>
      folder !== undefined &&
      folder !== '' &&
      existsSync(join(folder, 'initdb')) &&
      existsSync(join(folder, 'postgres')),
  );
}

function poolerBinary(): string | undefined {
  return [...(process.env['PATH'] ?? '').split(':'), '/usr/sbin']
    .map((folder) => join(folder, 'pgbouncer'))
    .find((path) => existsSync(path));
}

/** Returns another account if the user is root, as which PostgreSQL and pgbouncer refuse to run. */
function unprivileged(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const accounts = readFileSync('/etc/passwd', 'utf8').split('\n');
  const account =
    accounts.find((line) => line.startsWith('postgres:')) ??
    accounts.find((line) => line.startsWith('nobody:'));
  const [, , uid, gid] = account?.split(':') ?? [];
  if (uid === undefined || gid === undefined)
    throw new Error('PostgreSQL needs the user postgres or nobody, and this system has neither.');
  return { uid: Number(uid), gid: Number(gid) };
}
