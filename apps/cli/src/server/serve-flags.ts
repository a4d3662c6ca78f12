import { defined } from '@cobbler/agent/values';
import type { Level } from '@cobbler/server';
import { defaultPort } from '../command-line/command-table.ts';
import type { RawOptions, RunFlags } from '../config/run-flags.ts';
import { readRunFlags } from '../config/run-flags.ts';
import { oneOf, optionValue, portOption } from '../terminal/option-value.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** The options of `cobbler serve`. */
export interface ServeFlags {
  /** Model, directory, tools, permissions and limits of every session. */
  readonly work: RunFlags;
  readonly host: string;
  readonly port: number;
  readonly allowedHosts: readonly string[];
  readonly rotatesToken: boolean;
  /** A file path or the URL of a PostgreSQL database. */
  readonly store?: string;
  /** The runner with which runs survive the process. If absent, this process executes them. */
  readonly runner?: 'restate';
  readonly restate: RestateFlags;
  /** If absent, the output determines the level. */
  readonly level?: Level;
}

/** The addresses of the engine and of this process for the engine. */
export interface RestateFlags {
  readonly ingress?: readonly string[];
  readonly admin?: readonly string[];
  readonly host: string;
  readonly port: number;
  readonly address?: string;
  readonly identityKeys?: readonly string[] | 'trust-network';
}

const defaultRestatePort = 9080;

const levels: readonly Level[] = ['debug', 'info', 'warn', 'error'];

/**
 * Reads the options of `cobbler serve`.
 * @throws UsageError for an invalid value.
 */
export function readServeFlags(raw: RawOptions): ServeFlags {
  const level = optionValue(
    raw['logLevel'],
    '--log-level',
    oneOf(levels),
    `Use one of: ${levels.join(', ')}`,
  );
  const runner = runnerOf(raw['runner']);
  const restate = restateFlags(raw);
  checkRestate(raw, runner, restate);
  const hosts = Array.isArray(raw['allowedHost']) ? raw['allowedHost'].map(String) : [];
  const bad = hosts.find((host) => !/^[A-Za-z0-9.:-]+$/.test(host));
  if (bad !== undefined) {
    throw new UsageError(
      `--allowed-host ${JSON.stringify(bad)} is not a host name.`,
      'For example: cobbler.example.org',
    );
  }
  return {
    work: readRunFlags(raw),
    host: typeof raw['host'] === 'string' ? raw['host'] : '127.0.0.1',
    port: portOption(raw['port'], '--port') ?? defaultPort,
    allowedHosts: hosts,
    rotatesToken: raw['rotateToken'] === true,
    ...(typeof raw['store'] === 'string' && { store: raw['store'] }),
    ...defined({ runner }),
    restate,
    ...defined({ level }),
  };
}

function runnerOf(value: unknown): 'restate' | undefined {
  if (value === undefined || value === 'restate') return value;
  throw new UsageError(`Unknown runner ${JSON.stringify(value)}.`, 'Use: restate');
}

function restateFlags(raw: RawOptions): RestateFlags {
  const urls = (name: string, flag: string) => {
    const given = raw[name];
    return typeof given === 'string' ? given.split(',').map((url) => urlOf(url, flag)) : undefined;
  };
  const [ingress, admin] = [urls('restate', '--restate'), urls('restateAdmin', '--restate-admin')];
  const address = raw['restateAddress'];
  return {
    ...defined({ ingress, admin }),
    host: typeof raw['restateHost'] === 'string' ? raw['restateHost'] : '127.0.0.1',
    port: portOption(raw['restatePort'], '--restate-port') ?? defaultRestatePort,
    ...(typeof address === 'string' && { address: urlOf(address, '--restate-address') }),
    ...defined({ identityKeys: identityKeys(raw['restateIdentityKeys']) }),
  };
}

function identityKeys(given: unknown): RestateFlags['identityKeys'] {
  if (typeof given !== 'string') return undefined;
  return given === 'trust-network' ? given : given.split(',').map((key) => key.trim());
}

const restateOptions = {
  restate: '--restate',
  restateAdmin: '--restate-admin',
  restateHost: '--restate-host',
  restatePort: '--restate-port',
  restateAddress: '--restate-address',
  restateIdentityKeys: '--restate-identity-keys',
};

/** Rejects options that would silently have no effect, or let runs wait for a process that never returns. */
function checkRestate(
  raw: RawOptions,
  runner: 'restate' | undefined,
  { host, port, address }: RestateFlags,
): void {
  const given = Object.entries(restateOptions).find(([name]) => raw[name] !== undefined);
  if (given !== undefined && runner === undefined)
    throw new UsageError(
      `${given[1]} requires --runner restate.`,
      'Add --runner restate, or remove this option.',
    );
  if (address !== undefined) return;
  if (host === '0.0.0.0' || host === '::') {
    throw new UsageError(
      `Restate cannot reach this process at --restate-host ${host}.`,
      'Set an address that Restate can reach: --restate-address http://this-machine:9080',
    );
  }
  if (port === 0) {
    throw new UsageError(
      '--restate-port 0 uses a different port at each start, but Restate needs the same address for the whole run.',
      'Use a fixed port, or the address of a proxy: --restate-address URL',
    );
  }
}

function urlOf(text: string, flag: string): string {
  const url = URL.parse(text.trim());
  if (url !== null && /^https?:$/.test(url.protocol)) return url.href.replace(/\/$/, '');
  throw new UsageError(`${flag} cannot be ${JSON.stringify(text)}.`, 'For example: http://127.0.0.1:8080');
}
