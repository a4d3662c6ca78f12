import { AgentError } from '../../values/errors.ts';
import type { Credentials, Endpoint, Wire } from '../wire/wire.ts';
import type { Headers } from './headers.ts';
import { joinHeaders } from './headers.ts';
import type { Redactor } from './redact.ts';
import { createRedactor, secretsInHeaders, secretsInUrl } from './redact.ts';

/** A validated endpoint, with the scrubber that hides its secrets. */
export interface ResolvedEndpoint {
  readonly url: string;
  /** Host and port for messages, without path or credentials. */
  readonly host: string;
  readonly headers: Headers;
  readonly secrets: readonly string[];
  readonly redactor: Redactor;
}

/** Resolves the endpoint of a wire once. A failed lookup is not cached, so the next request retries it. */
export class EndpointCache {
  /** Undefined until the endpoint is known. */
  known: ResolvedEndpoint | undefined;
  #looking: Promise<ResolvedEndpoint> | undefined;
  readonly #wire: Wire;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  find(): ResolvedEndpoint | Promise<ResolvedEndpoint> {
    if (this.#looking !== undefined) return this.#looking;
    const { endpoint } = this.#wire;
    if (typeof endpoint !== 'function') {
      this.known = readyAddress(endpoint);
      return this.known;
    }
    const looking = lookUp(endpoint);
    this.#looking = looking;
    const over = (address?: ResolvedEndpoint) => {
      this.known = address;
      this.#looking = undefined;
    };
    looking.then(over, () => over());
    return looking;
  }
}

async function lookUp(endpoint: () => Promise<Endpoint>): Promise<ResolvedEndpoint> {
  let found: Endpoint;
  try {
    found = await endpoint();
  } catch (error) {
    throw AgentError.from(error, 'invalid');
  }
  return readyAddress(found);
}

function readyAddress(endpoint: Endpoint): ResolvedEndpoint {
  const secrets = [...secretsOf(endpoint), ...secretsInUrl(endpoint.url)];
  return {
    url: endpoint.url,
    host: hostOf(endpoint.url),
    headers: joinHeaders(endpoint.headers),
    secrets,
    redactor: createRedactor(secrets),
  };
}

/** Returns the endpoint for an attempt with these credentials, whose secrets it hides too. */
export function withCredentials(endpoint: ResolvedEndpoint, credentials: Credentials): ResolvedEndpoint {
  const secrets = [...endpoint.secrets, ...secretsOf(credentials)];
  return { ...endpoint, secrets, redactor: createRedactor(secrets) };
}

function secretsOf({ secrets = [], headers }: Credentials): string[] {
  return [...secrets, ...secretsInHeaders(headers)];
}

function hostOf(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null || (parsed.protocol !== 'https:' && parsed.protocol !== 'http:')) {
    const message = "The service's base URL is not a valid URL that starts with https:// or http://.";
    throw new AgentError({ kind: 'invalid', code: 'bad_url', message });
  }
  return parsed.host;
}
