import { AgentError } from '../../values/errors.ts';
import { parsedObject } from '../../values/json.ts';
import type { Runtime } from '../../values/runtime.ts';

type JsonFields = Readonly<Record<string, unknown>>;

/** A response of a service with a status that is not a success. */
export class BatchFailure extends AgentError {
  readonly httpStatus: number;
  readonly body: string;
  readonly headers: Headers;

  constructor(httpStatus: number, body: string, headers: Headers) {
    const message = `A request for a batch operation failed with HTTP status ${httpStatus}.`;
    super({ kind: 'agent', code: 'batch_failed', message });
    this.httpStatus = httpStatus;
    this.body = body;
    this.headers = headers;
  }
}

/** Maximum number of bytes of one response: 256 MiB, which is more than a service accepts as the input of a batch. */
const maxBytes = 256 * 1024 * 1024;

/** The requests that create, read and cancel one batch, with the headers of the requests in it. */
export class BatchHttp {
  /** The address of a request without a batch. */
  readonly url: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #fetch: Runtime['fetch'];

  constructor(url: string, headers: Readonly<Record<string, string>>, fetch: Runtime['fetch']) {
    this.url = url;
    const { accept: _, 'content-type': __, ...rest } = headers;
    this.#headers = rest;
    this.#fetch = fetch;
  }

  /**
   * Sends a request and returns the text of the response. An object is sent as JSON.
   * @throws BatchFailure if the status is not a success.
   */
  async send(method: 'GET' | 'POST' | 'DELETE', url: string, body?: FormData | object): Promise<string> {
    const isForm = body instanceof FormData;
    const response = await this.#fetch(url, {
      method,
      headers: { ...this.#headers, ...(!isForm && body && { 'content-type': 'application/json' }) },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
      redirect: 'manual',
    });
    const text = await readText(response);
    if (response.ok) return text;
    throw new BatchFailure(response.status, text, response.headers);
  }

  /** Like {@link send}, for a response of JSON lines. Lines that are not objects are skipped. */
  async lines(...request: Parameters<BatchHttp['send']>): Promise<readonly JsonFields[]> {
    const text = await this.send(...request);
    return text
      .split('\n')
      .map(parsedObject)
      .filter((line) => line !== undefined);
  }

  /** Like {@link send}, for a response that is a JSON object with these strings. */
  async sendFor<Name extends string>(
    names: readonly Name[],
    ...request: Parameters<BatchHttp['send']>
  ): Promise<Record<Name, string> & JsonFields> {
    const value = parsedObject(await this.send(...request));
    const missing = names.find((name) => typeof value?.[name] !== 'string');
    if (value === undefined || missing !== undefined) throw unreadable(missing);
    return value as Record<Name, string> & JsonFields;
  }
}

function unreadable(missing: string | undefined): AgentError {
  const what = missing === undefined ? 'is not a JSON object' : `has no \`${missing}\``;
  return new AgentError({
    kind: 'agent',
    code: 'bad_answer',
    message: `The service's response to a request for a batch operation ${what}.`,
  });
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = '';
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > maxBytes)
      throw new AgentError({
        kind: 'limit',
        code: 'answer_too_large',
        message: `The service sent more than ${maxBytes / 1024 ** 2} MiB for one batch. Use smaller batches: set \`maxRequests\`.`,
      });
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
