import { defined } from '../values/defined.ts';
import type { ErrorKind } from '../values/errors.ts';
import { AgentError } from '../values/errors.ts';
import { isObject } from '../values/json.ts';
import type { Runtime } from '../values/runtime.ts';

/** The server and the credentials to use. */
export interface LinkOptions {
  /** URL of the server, such as `https://cobbler.example`. */
  readonly url: string;
  readonly token: string;
  readonly runtime: Pick<Runtime, 'fetch'>;
}

/** Options of a request. */
export interface ApiRequestOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Sends requests to one server. */
export class ApiLink {
  readonly #options: LinkOptions;

  /** Creates a link to a server. @throws AgentError `invalid`, code `server_url`. */
  constructor(options: LinkOptions) {
    if (!URL.canParse(options.url)) {
      const message = `${JSON.stringify(options.url)} is not a valid server URL.`;
      throw new AgentError({ kind: 'invalid', code: 'server_url', message });
    }
    this.#options = options;
  }

  /**
   * Posts a request and returns the JSON of the response.
   * @throws AgentError with the code from the server's error response, or `network`.
   */
  async post(path: string, options: ApiRequestOptions): Promise<Record<string, unknown>> {
    const response = await this.open('POST', path, options);
    const json = await jsonOf(response);
    if (!response.ok) throw problemError(response, json);
    return json;
  }

  /** Sends a request; the caller reads the response. @throws AgentError `network` */
  async open(
    method: string,
    path: string,
    { body, headers, signal }: ApiRequestOptions = {},
  ): Promise<Response> {
    const { url, token, runtime } = this.#options;
    try {
      return await runtime.fetch(new URL(path, url), {
        method,
        headers: {
          authorization: `Bearer ${token}`,
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        // Never send the credentials to another server.
        redirect: 'error',
        ...defined({ body: body === undefined ? undefined : JSON.stringify(body), signal }),
      });
    } catch (thrown) {
      throw unreachable(thrown);
    }
  }
}

/** Converts an error response of the server to an error. */
export function problemError(response: Response, json: Record<string, unknown>): AgentError {
  const { status } = response;
  const detail = json['detail'];
  const code = json['code'];
  return new AgentError({
    kind: kindOf(status),
    message: typeof detail === 'string' ? detail : `The server responded with status ${status}.`,
    status,
    retryable: status >= 500,
    // A response without a code does not come from a Cobbler server, but for example from a proxy.
    code: typeof code === 'string' ? code : 'foreign_answer',
  });
}

/** Returns the JSON object of a body; an empty object if the body is not one. */
export async function jsonOf(response: Response): Promise<Record<string, unknown>> {
  try {
    const json: unknown = await response.json();
    return isObject(json) ? json : {};
  } catch {
    return {};
  }
}

function unreachable(thrown: unknown): AgentError {
  const { message, cause } = AgentError.from(thrown, 'network');
  return new AgentError({
    kind: 'network',
    code: 'unreachable',
    retryable: true,
    message: `The server cannot be reached: ${message}`,
    ...defined({ cause }),
  });
}

function kindOf(status: number): ErrorKind {
  if (status === 401 || status === 403) return 'auth';
  return status >= 500 ? 'agent' : 'invalid';
}
