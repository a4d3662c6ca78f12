import type { Http2Server, ServerHttp2Session } from 'node:http2';
import { createServer } from 'node:http2';
import { AgentError } from '@cobbler/agent';
import type { VirtualObjectDefinition, WorkflowDefinition } from '@restatedev/restate-sdk';
import { endpoint } from '@restatedev/restate-sdk';

type Definition = VirtualObjectDefinition<string, unknown> | WorkflowDefinition<string, unknown>;

export interface EndpointOptions {
  readonly definitions: readonly Definition[];
  readonly host: string;
  /** 0 for a free one. */
  readonly port: number;
  /** True if other processes of this machine may listen there too: the system distributes the connections. */
  readonly reusePort: boolean;
  /** Public keys of the engines that may call. */
  readonly identityKeys: readonly string[];
}

/** Where the engine calls the handlers. */
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

  /** @throws AgentError `invalid`, code `listen`, when the port cannot be had. */
  static async open(options: EndpointOptions): Promise<HandlerEndpoint> {
    const { definitions, host, port, reusePort, identityKeys } = options;
    const builder = endpoint();
    for (const definition of definitions) builder.bind(definition);
    if (identityKeys.length > 0) builder.withIdentityV1(...identityKeys);
    // What goes wrong in a run is its outcome; what goes wrong in the engine it logs itself.
    builder.setLogger(() => {});
    const server = createServer(builder.http2Handler());
    const opened = new HandlerEndpoint(server, host);
    await new Promise<void>((resolve, reject) => {
      server.once('error', (error) => reject(unheard(host, port, error)));
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

  /** Ends active calls: the engine will retry them. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      if (!this.#server.listening && this.#sessions.size === 0) resolve();
      this.#server.close(() => resolve());
    });
    for (const session of this.#sessions) session.destroy();
    await closed;
  }
}

function unheard(host: string, port: number, error: Error): AgentError {
  const message = `Cannot listen on port ${port} of ${host} (${error.message}). Choose another port or stop the process using it.`;
  return new AgentError({ kind: 'invalid', code: 'listen', message });
}
