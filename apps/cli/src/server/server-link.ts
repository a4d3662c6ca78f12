import { TokenStore, tokenFile } from '@cobbler/server';
import { visible } from '../terminal/escape.ts';
import type { Environment } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { readRunning, serverHome } from './server-home.ts';

/** A response of the server. */
export interface ServerAnswer {
  readonly status: number;
  readonly json: Record<string, unknown>;
}

/** Sends a request to a running server. A prompt with a key that was sent before starts nothing. */
export type ServerLink = (
  method: string,
  path: string,
  body?: unknown,
  key?: string,
) => Promise<ServerAnswer>;

/**
 * Returns a link to the given server, or to the one running on this machine, with its owner's token or the one in
 * COBBLER_SERVER_TOKEN.
 * @param given the value of --url
 * @throws UsageError if there is none.
 */
export function linkToServer(env: Environment, given: unknown): ServerLink {
  const home = serverHome(env);
  const url = (typeof given === 'string' ? given : undefined) ?? readRunning(home.running)?.url;
  if (url === undefined || !URL.canParse(url)) {
    throw new UsageError(
      url === undefined
        ? 'No server is running on this machine.'
        : `${JSON.stringify(url)} is not a server URL.`,
      'Start one with cobbler serve, or pass the URL of a running server: --url http://HOST:PORT',
    );
  }
  const token = env['COBBLER_SERVER_TOKEN'] ?? ownerToken(home.tokens);
  return linkTo(url, () => token);
}

/** Returns a link to a server with the token that is valid at each request. */
export function linkTo(url: string, token: () => string): ServerLink {
  return async (method, path, body, key) => {
    const headers = { authorization: `Bearer ${token()}`, 'content-type': 'application/json' };
    const keyed = key === undefined ? headers : { ...headers, 'idempotency-key': key };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    try {
      const response = await fetch(new URL(path, url), { method, headers: keyed, ...text });
      const json: unknown = await response.json().catch(() => ({}));
      return { status: response.status, json: json as Record<string, unknown> };
    } catch {
      throw new UsageError(`The server at ${url} did not respond.`, 'Start it: cobbler serve');
    }
  };
}

/** Returns the owner's token. Only the server creates one, because it records that. */
function ownerToken(path: string): string {
  const write = () => {
    throw new UsageError(
      'There is no owner token on this machine.',
      'Set COBBLER_SERVER_TOKEN to a token of the server, or start one here: cobbler serve',
    );
  };
  return new TokenStore({ ...tokenFile(path), write }).own();
}

/** Returns the error for a response that refuses a request. */
export function refusalError(status: number, json: Record<string, unknown>, advice: string): UsageError {
  const detail =
    typeof json['detail'] === 'string' ? json['detail'] : `The server responded with status ${status}.`;
  return new UsageError(visible(detail), advice);
}
