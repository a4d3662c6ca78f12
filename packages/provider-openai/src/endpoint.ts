import type { Environment } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { Endpoint, FactoryConfig } from '@cobbler/agent/provider';
import { cleanKey } from '@cobbler/agent/provider';
import { defined } from '@cobbler/agent/values';

/** Where a service is and with what it is asked. */
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
 * The address from configuration and environment (OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_ORG_ID,
 * OPENAI_PROJECT_ID). A compatible server needs no key; one that is set is sent to it all the same, as every
 * OpenAI client does.
 * @throws AgentError `invalid` with code `bad_url`, `no_key` or `bad_key`.
 */
export function addressOf(config: FactoryConfig): OpenAIAddress {
  const env = config.env ?? processEnvironment();
  const baseURL = config.baseURL ?? env['OPENAI_BASE_URL']?.trim() ?? '';
  const official = baseURL === '' || isOfficial(baseURL);
  const apiKey = cleanKey(config.apiKey) ?? cleanKey(env['OPENAI_API_KEY']);
  if (apiKey === undefined && official) {
    throw invalid(
      'no_key',
      'There is no OpenAI key. Set OPENAI_API_KEY in the environment, pass apiKey, or set baseURL to a compatible server.',
    );
  }
  if (apiKey !== undefined && !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw invalid(
      'bad_key',
      'The OpenAI key contains characters that keys do not have, such as a line break. Copy it again.',
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
 * Asks the vendor's client for URL and headers of a route. It is loaded only now, since it is large; bodies,
 * retries and the reading of answers are not its business.
 */
export async function endpointOf(address: OpenAIAddress, path: string): Promise<Endpoint> {
  const { OpenAI } = await import('openai');
  const client = new OpenAI({
    // The client insists on a key; its header is taken out again below when there is none.
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
  for (const [name, value] of new Headers(req.headers)) {
    if (!perRequest.has(name)) headers[name] = value;
  }
  if (address.apiKey === undefined) delete headers['authorization'];
  headers['content-type'] = 'application/json';
  headers['accept'] = 'text/event-stream';
  return { url, headers, ...(address.apiKey !== undefined && { secrets: [address.apiKey] }) };
}

/** Headers that describe one request of the client's own: its retry and its time-out are not ours. */
const perRequest: ReadonlySet<string> = new Set([
  'x-stainless-retry-count',
  'x-stainless-timeout',
  'content-length',
]);

/** OpenAI's own hosts: api.openai.com and its regional ones, such as eu.api.openai.com. */
function isOfficial(baseURL: string): boolean {
  let url: URL;
  try {
    url = new URL(baseURL);
  } catch {
    throw invalid(
      'bad_url',
      `The base URL ${JSON.stringify(baseURL)} is not a URL. It looks like http://localhost:11434/v1.`,
    );
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw invalid('bad_url', `The base URL ${JSON.stringify(baseURL)} must start with http:// or https://.`);
  }
  return url.hostname === 'api.openai.com' || url.hostname.endsWith('.api.openai.com');
}

function processEnvironment(): Environment {
  return globalThis.process?.env ?? {};
}

function invalid(code: string, message: string): AgentError {
  return new AgentError({ kind: 'invalid', code, message, provider: 'openai' });
}
