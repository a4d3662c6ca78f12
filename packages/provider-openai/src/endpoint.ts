import type { Environment } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { Endpoint, FactoryConfig } from '@cobbler/agent/provider';
import { cleanKey } from '@cobbler/agent/provider';
import { defined } from '@cobbler/agent/values';

/** API of OpenAI to use. */
export type OpenAIApi = 'responses' | 'chat';

/** Address and credentials of a service. */
export interface OpenAIAddress {
  readonly baseURL: string;
  /** True if the address is OpenAI itself, not a compatible server. */
  readonly official: boolean;
  readonly apiKey?: string;
  readonly organization?: string;
  readonly project?: string;
}

const officialURL = 'https://api.openai.com/v1';

/**
 * Returns the address from the configuration and the environment (OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_ORG_ID,
 * OPENAI_PROJECT_ID). A compatible server needs no key, but receives the one that is set, as from every OpenAI
 * client.
 * @throws AgentError `invalid` with code `bad_url`, `no_key` or `bad_key`.
 */
export function addressOf(config: FactoryConfig): OpenAIAddress {
  const env: Environment = config.env ?? globalThis.process?.env ?? {};
  const baseURL = config.baseURL ?? env['OPENAI_BASE_URL']?.trim() ?? '';
  const official = baseURL === '' || isOfficial(baseURL);
  const apiKey = cleanKey(config.apiKey) ?? cleanKey(env['OPENAI_API_KEY']);
  if (apiKey === undefined && official) {
    throw invalid(
      'no_key',
      'There is no API key for OpenAI. Set OPENAI_API_KEY, pass `apiKey`, or set `baseURL` to a compatible server.',
    );
  }
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw invalid(
      'bad_key',
      'The API key for OpenAI contains a space, a line break or another invalid character. Copy it again.',
    );
  }
  const organization = official ? cleanKey(env['OPENAI_ORG_ID']) : undefined;
  const project = official ? cleanKey(env['OPENAI_PROJECT_ID']) : undefined;
  return {
    baseURL: baseURL === '' ? officialURL : baseURL,
    official,
    ...defined({ apiKey, organization, project }),
  };
}

/**
 * Returns the URL and headers of a route from the vendor's client. The client is large, so it is loaded only on the
 * first request; it does not handle bodies, retries or responses.
 */
export async function endpointOf(address: OpenAIAddress, path: string): Promise<Endpoint> {
  const { OpenAI } = await import('openai');
  const client = new OpenAI({
    // The client requires a key; its header is removed below if there is no key.
    apiKey: address.apiKey ?? 'none',
    adminAPIKey: null,
    baseURL: address.baseURL,
    organization: address.organization ?? null,
    project: address.project ?? null,
    maxRetries: 0,
    logLevel: 'off',
  });
  const { url, req } = await client.buildRequest({ method: 'post', path });
  const headers: Record<string, string> = {};
  for (const [name, value] of req.headers) {
    if (!perRequest.has(name)) headers[name] = value;
  }
  if (address.apiKey === undefined) delete headers['authorization'];
  headers['content-type'] = 'application/json';
  headers['accept'] = 'text/event-stream';
  return { url, headers, ...(address.apiKey !== undefined && { secrets: [address.apiKey] }) };
}

/** Headers that describe a request of the client itself, whose retries and timeouts are not used. */
const perRequest: ReadonlySet<string> = new Set([
  'x-stainless-retry-count',
  'x-stainless-timeout',
  'content-length',
]);

/** Returns true for OpenAI's own hosts: api.openai.com and regional ones such as eu.api.openai.com. */
function isOfficial(baseURL: string): boolean {
  const url = URL.parse(baseURL);
  if (url === null) {
    throw invalid(
      'bad_url',
      `The base URL ${JSON.stringify(baseURL)} is not a valid URL. Use the form http://localhost:11434/v1.`,
    );
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw invalid('bad_url', `The base URL ${JSON.stringify(baseURL)} must start with http:// or https://.`);
  }
  return url.hostname === 'api.openai.com' || url.hostname.endsWith('.api.openai.com');
}

function invalid(code: string, message: string): AgentError {
  return new AgentError({ kind: 'invalid', code, message, provider: 'openai' });
}
