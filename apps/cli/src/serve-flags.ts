import type { Level } from '@cobbler/server';
import type { RunFlags } from './run-flags.ts';
import { readRunFlags } from './run-flags.ts';
import { usualPort } from './server-home.ts';
import { UsageError } from './usage-error.ts';

/** What the options of `cobbler serve` say. */
export interface ServeFlags {
  /** Model, folder, tools, permissions and limits of every session. */
  readonly work: RunFlags;
  readonly host: string;
  readonly port: number;
  readonly allowedHosts: readonly string[];
  readonly rotatesToken: boolean;
  readonly store?: string;
  /** Absent: what suits whoever reads it. */
  readonly level?: Level;
}

const levels: readonly Level[] = ['debug', 'info', 'warn', 'error'];

/**
 * Reads the options of `cobbler serve`.
 * @throws UsageError for a value that cannot be meant.
 */
export function readServeFlags(raw: Readonly<Record<string, unknown>>): ServeFlags {
  const level = levelOf(raw['logLevel']);
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
    ...(level !== undefined && { level }),
  };
}

function portOf(value: unknown): number {
  if (value === undefined) return usualPort;
  const port = Number(value);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new UsageError(
    `--port cannot be ${JSON.stringify(value)}.`,
    'A number from 0 (any free one) to 65535.',
  );
}

function levelOf(value: unknown): Level | undefined {
  if (value === undefined) return undefined;
  const level = levels.find((one) => one === value);
  if (level !== undefined) return level;
  throw new UsageError(`--log-level cannot be ${JSON.stringify(value)}.`, `One of: ${levels.join(', ')}`);
}
