import type { Http2Server, ServerHttp2Session } from 'node:http2';
import { createServer } from 'node:http2';
import { AgentError } from '@cobbler/agent';
import type { VirtualObjectDefinition, WorkflowDefinition } from '@restatedev/restate-sdk';
import { endpoint } from '@restatedev/restate-sdk';

type Definition = VirtualObjectDefinition<string, unknown> | WorkflowDefinition<string, unknown>;

export interface EndpointOptions {
  readonly definitions: readonly Definition[];
  readonly host: string;
  /** Port number; 0 selects a free port. */
  readonly port: number;
  /** True if other processes of this machine can listen on the same port. The system distributes the connections. */
  readonly reusePort: boolean;
  /** Public keys of the engines that can call the handlers. */
  readonly identityKeys: readonly string[];
}

/** The HTTP server through which the engine calls the handlers. */
export class HandlerEndpoint {
  readonly #server: Http2Server;
  readonly #sessions = new Set<ServerHttp2Session>();
  readonly #host: string;

  private constructor(server: Http2Server, host: string) {
    this.#server = server;
    this.#host = host;
    server.on('session', (session) => {
      this.#sessions.add(session);
      session.on('close', () => this.#sessions.delete(session));
    });
  }

  /** Starts listening. @throws AgentError `invalid`, code `listen`, if the port is not available. */
  static async open(options: EndpointOptions): Promise<HandlerEndpoint> {
    const { definitions, host, port, reusePort, identityKeys } = options;
    const builder = endpoint();
    for (const definition of definitions) builder.bind(definition);
    if (identityKeys.length > 0) builder.withIdentityV1(...identityKeys);
    // A failure of a run is its outcome, and the engine logs its own failures.
    builder.setLogger(() => {});
    const server = serverOf(builder);
    const opened = new HandlerEndpoint(server, host);
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(listenError(host, port, error)));
      server.listen({ host, port, reusePort }, resolve);
    });
    server.on('error', () => {});
    return opened;
  }

  get url(): string {
    const address = this.#server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const host = this.#host.includes(':') ? `[${this.#host}]` : this.#host;
    return `http://${host}:${port}`;
  }

  /** Accepts no new calls; active ones continue. */
  drain(): void {
    this.#server.close();
    for (const session of this.#sessions) session.close();
  }

  /** Ends active calls; the engine retries them. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      if (!this.#server.listening && this.#sessions.size === 0) resolve();
      this.#server.close(() => resolve());
    });
    for (const session of this.#sessions) session.destroy();
    await closed;
  }
}

/** @throws AgentError `invalid`, code `identity_keys`, for a key that the SDK rejects. */
function serverOf(builder: ReturnType<typeof endpoint>): Http2Server {
  try {
    return createServer(builder.http2Handler());
  } catch (thrown) {
    const message = `A key in identityKeys is not valid (${String(thrown)}). Use the public keys of the Restate servers, such as publickeyv1_….`;
    throw new AgentError({ kind: 'invalid', code: 'identity_keys', message });
  }
}

function listenError(host: string, port: number, error: Error): AgentError {
  const message = `Cannot listen on port ${port} on ${host} (${error.message}). Choose another port, or stop the process that is using this one.`;
  return new AgentError({ kind: 'invalid', code: 'listen', message });
}
