import type { Endpoint } from '@cobbler/agent/provider';

/** Which account at which address. */
export interface ClaudeAccount {
  readonly apiKey: string;
  readonly baseURL: string;
}

/**
 * Headers in which the client describes its own retries, timeouts and runtime. It does not send the request, so they
 * would be wrong, and the user's machine should stay private.
 */
const aboutTheClient = 'x-stainless-';

/**
 * Asks the vendor's client where a request goes and with which headers: how a key is sent and which API
 * version is spoken stay its affair. The client is loaded here, at the first request, because loading it
 * takes longer than everything else at start. It is given all settings, so that it looks for none of them
 * in the environment, and never sends anything itself.
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
  for (const [name, value] of new Headers(req.headers))
    if (!name.startsWith(aboutTheClient)) headers[name] = value;
  headers['accept'] = 'text/event-stream';
  headers['content-type'] = 'application/json';
  return { url, headers, secrets: [account.apiKey] };
}
