import type { Endpoint } from '@cobbler/agent/provider';

/** The credentials and address of an account. */
export interface ClaudeAccount {
  readonly apiKey: string;
  readonly baseURL: string;
}

/**
 * Prefix of the headers in which the client describes its own retries, timeouts and runtime. They are removed: the
 * client does not send the request, so they would be wrong, and the user's machine should stay private.
 */
const aboutTheClient = 'x-stainless-';

/**
 * Returns the address and headers of a request from the vendor's client, which determines how the key is sent and
 * which API version is used. The client is loaded on the first request, because loading it takes longer than the rest
 * of the startup. It receives all settings, so that it reads none from the environment, and it never sends a request.
 */
export async function askClient(account: ClaudeAccount): Promise<Endpoint> {
  const { BaseAnthropic } = await import('./client.ts');
  const client = new BaseAnthropic({
    apiKey: account.apiKey,
    baseURL: account.baseURL,
    webhookKey: null,
    maxRetries: 0,
    logLevel: 'off',
    openTelemetry: false,
  });
  const { req, url } = await client.buildRequest({ method: 'post', path: '/v1/messages' });
  const headers: Record<string, string> = {};
  // The names and values are the same as in `Headers`, whose class the bundled client does not load.
  for (const [name, value] of req.headers) if (!name.startsWith(aboutTheClient)) headers[name] = value;
  headers['accept'] = 'text/event-stream';
  headers['content-type'] = 'application/json';
  return { url, headers, secrets: [account.apiKey] };
}
