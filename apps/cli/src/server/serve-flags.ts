import type { Level } from '@cobbler/server';
import type { RunFlags } from '../config/run-flags.ts';
import { readRunFlags } from '../config/run-flags.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { defaultPort } from './server-home.ts';

/** What the options of `cobbler serve` say. */
export interface ServeFlags {
  /** Model, folder, tools, permissions and limits of every session. */
  readonly work: RunFlags;
  readonly host: string;
  readonly port: number;
  readonly allowedHosts: readonly string[];
  readonly rotatesToken: boolean;
  /** A file, or the address of a PostgreSQL database. */
  readonly store?: string;
  /** What sees to runs so that they outlive the process. Absent: this process. */
  readonly runner?: 'restate';
  readonly restate: RestateFlags;
  /** Absent: what suits whoever reads it. */
  readonly level?: Level;
}

/** Where the engine is, and where it finds this process. */
export interface RestateFlags {
  readonly ingress?: readonly string[];
  readonly admin?: readonly string[];
  readonly host: string;
  readonly port: number;
  readonly address?: string;
}

const defaultRestatePort = 9080;

const levels: readonly Level[] = ['debug', 'info', 'warn', 'error'];

/**
 * Reads the options of `cobbler serve`.
 * @throws UsageError for a value that cannot be meant.
 */
export function readServeFlags(raw: Readonly<Record<string, unknown>>): ServeFlags {
  const level = levelOf(raw['logLevel']);
  const runner = runnerOf(raw['runner']);
  const restate = restateFlags(raw);
  checkRestate(raw, runner, restate);
  const hosts = Array.isArray(raw['allowedHost']) ? raw['allowedHost'].map(String) : [];
  const bad = hosts.find((host) => !/^[A-Za-z0-9.:-]+$/.test(host));
  if (bad !== undefined) {
    throw new UsageError(
      `--allowed-host ${JSON.stringify(bad)} is no host name.`,
      'Such as: cobbler.example.org',
    );
  }
  return {
    work: readRunFlags(raw),
    host: typeof raw['host'] === 'string' ? raw['host'] : '127.0.0.1',
    port: portOf(raw['port']),
    allowedHosts: hosts,
    rotatesToken: raw['rotateToken'] === true,
    ...(typeof raw['store'] === 'string' && { store: raw['store'] }),
    ...(runner !== undefined && { runner }),
    restate,
    ...(level !== undefined && { level }),
  };
}

function runnerOf(value: unknown): 'restate' | undefined {
  if (value === undefined || value === 'restate') return value;
  throw new UsageError(`There is no runner named ${JSON.stringify(value)}.`, 'There is: restate');
}

function restateFlags(raw: Readonly<Record<string, unknown>>): RestateFlags {
  const urls = (name: string, flag: string) => {
    const given = raw[name];
    return typeof given === 'string' ? given.split(',').map((url) => urlOf(url, flag)) : undefined;
  };
  const [ingress, admin] = [urls('restate', '--restate'), urls('restateAdmin', '--restate-admin')];
  const address = raw['restateAddress'];
  return {
    ...(ingress !== undefined && { ingress }),
    ...(admin !== undefined && { admin }),
    host: typeof raw['restateHost'] === 'string' ? raw['restateHost'] : '127.0.0.1',
    port: portOf(raw['restatePort'], defaultRestatePort, '--restate-port'),
    ...(typeof address === 'string' && { address: urlOf(address, '--restate-address') }),
  };
}

const restateOptions = {
  restate: '--restate',
  restateAdmin: '--restate-admin',
  restateHost: '--restate-host',
  restatePort: '--restate-port',
  restateAddress: '--restate-address',
};

/** Options that would silently do nothing, or have runs wait for a process that never comes back. */
function checkRestate(
  raw: Readonly<Record<string, unknown>>,
  runner: 'restate' | undefined,
  { host, port, address }: RestateFlags,
): void {
  const given = Object.entries(restateOptions).find(([name]) => raw[name] !== undefined);
  if (given !== undefined && runner === undefined)
    throw new UsageError(
      `${given[1]} says something only with --runner restate.`,
      'Add it, or leave this out.',
    );
  if (address !== undefined) return;
  if (host === '0.0.0.0' || host === '::') {
    throw new UsageError(
      `--restate-host ${host} is no address at which Restate finds this process.`,
      'Say where it does: --restate-address http://this-machine:9080',
    );
  }
  if (port === 0) {
    throw new UsageError(
      '--restate-port 0 is another port at each start, and Restate keeps a run at the address where it began.',
      'Name a port that stays the same, or what is in front of it: --restate-address URL',
    );
  }
}

function urlOf(text: string, flag: string): string {
  const url = URL.parse(text.trim());
  if (url !== null && /^https?:$/.test(url.protocol)) return url.href.replace(/\/$/, '');
  throw new UsageError(`${flag} cannot be ${JSON.stringify(text)}.`, 'Such as: http://127.0.0.1:8080');
}

function portOf(value: unknown, usual: number = defaultPort, flag = '--port'): number {
  if (value === undefined) return usual;
  const port = Number(value);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new UsageError(
    `${flag} cannot be ${JSON.stringify(value)}.`,
    'A number from 0 (any free one) to 65535.',
  );
}

function levelOf(value: unknown): Level | undefined {
  if (value === undefined) return undefined;
  const level = levels.find((one) => one === value);
  if (level !== undefined) return level;
  throw new UsageError(`--log-level cannot be ${JSON.stringify(value)}.`, `One of: ${levels.join(', ')}`);
}
