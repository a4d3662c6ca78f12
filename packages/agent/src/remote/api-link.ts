import { defined } from '../values/defined.ts';
import type { ErrorKind } from '../values/errors.ts';
import { AgentError } from '../values/errors.ts';
import { isObject } from '../values/json.ts';
import type { Runtime } from '../values/runtime.ts';

/** Where the server is and who asks. */
export interface LinkOptions {
  /** Such as `https://cobbler.example`. */
  readonly url: string;
  readonly token: string;
  readonly runtime: Pick<Runtime, 'fetch'>;
}

/** What may be said with a request. */
export interface ApiRequestOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** Asks one server. */
export class ApiLink {
  readonly #options: LinkOptions;

  /** @throws AgentError `invalid`, code `server_url`. */
  constructor(options: LinkOptions) {
    if (!URL.canParse(options.url)) {
      const message = `${JSON.stringify(options.url)} is not an address of a server.`;
      throw new AgentError({ kind: 'invalid', code: 'server_url', message });
    }
    this.#options = options;
  }

  /**
   * Sends a request and gives what came back as JSON.
   * @throws AgentError with the code of the server's problem, or `network`.
   */
  async ask(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    asked: ApiRequestOptions = {},
  ): Promise<Record<string, unknown>> {
    const response = await this.open(method, path, asked);
    const json = await jsonOf(response);
    if (!response.ok) throw problemError(response, json);
    return json;
  }

  /** Sends a request whose answer is read by the caller. @throws AgentError `network` */
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
        // Credentials go to this server and to no other.
        redirect: 'error',
        ...defined({ body: body === undefined ? undefined : JSON.stringify(body), signal }),
      });
    } catch (thrown) {
      throw unreachable(thrown);
    }
  }
}

/** What a refused request means. */
export function problemError(response: Response, json: Record<string, unknown>): AgentError {
  const { status } = response;
  const detail = json['detail'];
  const code = json['code'];
  return new AgentError({
    kind: kindOf(status),
    message: typeof detail === 'string' ? detail : `The server answered ${status}.`,
    status,
    retryable: status >= 500,
    // What answers without a code is something else than this server, such as a proxy before it.
    code: typeof code === 'string' ? code : 'foreign_answer',
  });
}

/** The JSON of a body; an empty object when it is none. */
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
