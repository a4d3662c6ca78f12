import type { Environment } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';

/**
 * The address and token of a server: from the options, after `#token=` in the address, or from COBBLER_SERVER_TOKEN.
 * @throws UsageError when the address is invalid, or there is no token.
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
      `${JSON.stringify(given)} is not a server address.`,
      'For example: --connect http://127.0.0.1:4370',
    );
  }
  const behind = /(?:^#|&)token=([^&]+)/.exec(url.hash)?.[1];
  const found = (typeof token === 'string' ? token : undefined) ?? behind ?? env['COBBLER_SERVER_TOKEN'];
  if (found === undefined || found === '') {
    throw UsageError.coded(
      'unauthorized',
      'The server requires a token.',
      'Copy the whole address that cobbler serve printed, with #token=, or pass --token TOKEN.',
    );
  }
  return { url: url.origin, token: found };
}
