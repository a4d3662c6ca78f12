import type { Runtime } from '@cobbler/agent';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js';
import type { McpTransport } from './transport.ts';
import { maxMessageBytes } from './transport.ts';

/** Time to wait for a response on another stream after its own was cut off, in milliseconds. */
const resumeMs = 5_000;

/** Time limit for ending a session at the server, in milliseconds. */
const leaveMs = 1_000;

/** HTTP transport whose requests always complete; the SDK's never settles after a cut, and takes any size. */
export class HttpTransport extends StreamableHTTPClientTransport implements McpTransport {
  readonly #waiting = new Set<RequestId>();
  readonly #runtime: Pick<Runtime, 'timer'>;
  readonly #timers = new Set<() => void>();
  #problem = '';

  constructor(url: URL, headers: Record<string, string>, runtime: Pick<Runtime, 'timer' | 'fetch'>) {
    super(url, {
      requestInit: { headers },
      fetch: async (input, init) => {
        const response = await runtime.fetch(input, init);
        return limitResponse(response, (problem) => this.#endRequest(requestIn(init), problem));
      },
      reconnectionOptions: {
        initialReconnectionDelay: 500,
        maxReconnectionDelay: 2_000,
        reconnectionDelayGrowFactor: 2,
        maxRetries: 2,
      },
    });
    this.#runtime = runtime;
  }

  override async start(): Promise<void> {
    const onMessage = this.onmessage;
    this.onmessage = (message: JSONRPCMessage) => {
      if (!('method' in message) && message.id !== undefined) this.#waiting.delete(message.id);
      onMessage?.(message);
    };
    await super.start();
  }

  override async send(
    ...[message, options]: Parameters<StreamableHTTPClientTransport['send']>
  ): Promise<void> {
    const id = !Array.isArray(message) && 'method' in message && 'id' in message ? message.id : undefined;
    if (id !== undefined) this.#waiting.add(id);
    try {
      await super.send(message, options);
    } catch (error) {
      if (id !== undefined) this.#waiting.delete(id);
      throw error;
    }
  }

  override async close(): Promise<void> {
    for (const cancel of this.#timers) cancel();
    this.#timers.clear();
    let cancel = () => {};
    const timeout = new Promise<void>((resolve) => {
      cancel = this.#runtime.timer(leaveMs, resolve);
    });
    // Ending the session fails if the server is no longer running.
    await Promise.race([this.terminateSession().catch(() => undefined), timeout]);
    cancel();
    await super.close();
  }

  ending(): string {
    return this.#problem === '' ? 'cut the connection' : this.#problem;
  }

  lastWords(): string {
    return '';
  }

  /** Handles the end of a response stream. If the stream was cut off, the response may still arrive on another one. */
  #endRequest(id: RequestId | undefined, problem: string | undefined): void {
    if (id === undefined) return;
    const cancel = this.#runtime.timer(problem === undefined ? resumeMs : 0, () => {
      this.#timers.delete(cancel);
      if (!this.#waiting.delete(id)) return;
      this.#problem = problem ?? 'cut the connection';
      const error = { code: -32_000, message: this.#problem };
      this.onmessage?.({ jsonrpc: '2.0', id, error });
    });
    this.#timers.add(cancel);
  }
}

/** Returns the id of the request in a body. */
function requestIn(init: RequestInit | undefined): RequestId | undefined {
  if (init?.method !== 'POST' || typeof init.body !== 'string') return undefined;
  const { id, method } = JSON.parse(init.body) as { id?: RequestId; method?: string };
  return method === undefined ? undefined : id;
}

/** Returns the response with a body that fails if a message is too long. `endRequest` gets the problem, if any, at the end. */
function limitResponse(response: Response, endRequest: (problem: string | undefined) => void): Response {
  if (response.body === null) return response;
  const isStream = response.headers.get('content-type')?.includes('text/event-stream') === true;
  let bytes = 0;
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          controller.close();
          return endRequest(undefined);
        }
        bytes = isStream && endsEvent(value) ? value.length : bytes + value.length;
        if (bytes <= maxMessageBytes) return controller.enqueue(value);
        const problem = `sent a message of more than ${maxMessageBytes / 1_048_576} MiB`;
        controller.error(new Error(problem));
        endRequest(problem);
        await reader.cancel();
      } catch (error) {
        controller.error(error);
        endRequest(undefined);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}

/** Returns true if an event of the stream ends within these bytes. */
function endsEvent(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return text.includes('\n\n') || text.includes('\n\r\n');
}
