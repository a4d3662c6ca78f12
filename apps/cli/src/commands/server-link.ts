import { TokenStore, tokenFile } from '@cobbler/server';
import { readRunning, serverHome } from '../server/server-home.ts';
import type { Environment } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** An answer of the server. */
export interface ServerAnswer {
  readonly status: number;
  readonly json: Record<string, unknown>;
}

/** Asks a server that runs. */
export type ServerLink = (method: string, path: string, body?: unknown) => Promise<ServerAnswer>;

/**
 * A link to the server named, or to the one that runs on this machine, with its owner's token or the one in
 * COBBLER_SERVER_TOKEN.
 * @throws UsageError when there is none.
 */
export function linkToServer(env: Environment, named?: string): ServerLink {
  const home = serverHome(env);
  const url = named ?? readRunning(home.running)?.url;
  if (url === undefined || !URL.canParse(url)) {
    throw new UsageError(
      url === undefined
        ? 'No server is running on this machine.'
        : `${JSON.stringify(url)} is not an address.`,
      'Start it: cobbler serve. Or use another one: --url http://HOST:PORT',
    );
  }
  const token = env['COBBLER_SERVER_TOKEN'] ?? new TokenStore(tokenFile(home.tokens)).own();
  return async (method, path, body) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    try {
      const response = await fetch(new URL(path, url), { method, headers, ...text });
      const json: unknown = await response.json().catch(() => ({}));
      return { status: response.status, json: json as Record<string, unknown> };
    } catch {
      throw new UsageError(`The server at ${url} does not respond.`, 'Start it: cobbler serve');
    }
  };
}
