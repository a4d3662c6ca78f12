import type { Environment } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';

/**
 * Where a server is and the token for it: given, behind `#token=` in its address, or in COBBLER_SERVER_TOKEN.
 * @throws UsageError when it is no address, or there is no token.
 */
export function serverAccess(
  given: string,
  token: unknown,
  env: Environment,
): { readonly url: string; readonly token: string } {
  const url = URL.parse(given);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw UsageError.coded(
      'server_url',
      `${JSON.stringify(given)} is no address of a server.`,
      'Such as: --connect http://127.0.0.1:4370',
    );
  }
  const behind = /(?:^#|&)token=([^&]+)/.exec(url.hash)?.[1];
  const found = (typeof token === 'string' ? token : undefined) ?? behind ?? env['COBBLER_SERVER_TOKEN'];
  if (found === undefined || found === '') {
    throw UsageError.coded(
      'unauthorized',
      'A token is needed to talk to a server.',
      'Copy the whole address that cobbler serve printed, with #token=, or give --token TOKEN.',
    );
  }
  return { url: url.origin, token: found };
}
