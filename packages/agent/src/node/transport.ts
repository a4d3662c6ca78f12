import type http from 'node:http';
import { urlToHttpOptions } from 'node:url';
import { AgentError, summarize } from '../errors.ts';
import type { RawResponse, Transport, TransportRequest } from '../provider/transport.ts';
import type { Runtime } from '../runtime.ts';

/**
 * A transport over keep-alive connections of Node's own HTTP client, which costs a tenth of what fetch does.
 * Idle connections do not keep the process alive. Proxies named in the environment are used where Node
 * supports it (22.21 and 24.5 on).
 */
export function nodeTransport(): Transport {
  const clients = new Clients();
  return async (request) => {
    const target = clients.target(request.url);
    const client = clients.of(target);
    try {
      return await send({ target, client, agent: client.kept, request });
    } catch (error) {
      // The server closed an idle connection while the request was on its way: nothing of it was taken.
      if (error !== closedWhileIdle) throw error;
      return await send({ target, client, agent: client.fresh, request });
    }
  };
}

let shared: Transport | undefined;

/** The transport of this platform, for programs that choose none: one for the whole process. */
export function defaultTransport(_runtime: Runtime): Transport {
  shared ??= nodeTransport();
  return shared;
}

type Target = Pick<http.ClientRequestArgs, 'protocol' | 'hostname' | 'port' | 'path' | 'auth' | 'method'>;

/** What speaks one protocol. */
interface Client {
  readonly request: typeof http.request;
  readonly kept: http.Agent;
  /** Gives a new connection each time. */
  readonly fresh: http.Agent;
}

class Clients {
  readonly #clients = new Map<string, Client>();
  #url: string | undefined;
  #target: Target | undefined;

  /** An agent has one address, so only the last one is kept. */
  target(url: string): Target {
    if (this.#target === undefined || url !== this.#url) {
      const { protocol, hostname, port, path, auth } = urlToHttpOptions(new URL(url));
      this.#target = { protocol, hostname, port, path, auth, method: 'POST' };
      this.#url = url;
    }
    return this.#target;
  }

  of({ protocol }: Target): Client {
    const name = protocol === 'http:' ? 'node:http' : 'node:https';
    const known = this.#clients.get(name);
    if (known !== undefined) return known;
    // Importing node:http makes Node load all of its fetch as well, which takes longer than a whole request.
    const { Agent, request } = process.getBuiltinModule(name);
    const options = { noDelay: true, proxyEnv: process.env };
    const client: Client = {
      request,
      kept: new Agent({ ...options, keepAlive: true, scheduling: 'lifo' }),
      fresh: new Agent({ ...options, keepAlive: false }),
    };
    this.#clients.set(name, client);
    return client;
  }
}

interface Sending {
  readonly target: Target;
  readonly client: Client;
  readonly agent: http.Agent;
  readonly request: TransportRequest;
}

const closedWhileIdle: unique symbol = Symbol('closed while idle');

function send(sending: Sending): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const { signal, body } = sending.request;
    if (signal.aborted) return reject(signal.reason);
    const outgoing = begin(sending);
    const abort = () => outgoing.destroy();
    signal.addEventListener('abort', abort, { once: true });
    outgoing.on('close', () => signal.removeEventListener('abort', abort));
    let received = 0;
    outgoing.on('socket', (socket) => {
      received = socket.bytesRead;
    });
    // Stays for good: a request may also fail after its response has begun.
    outgoing.on('error', (error: NodeJS.ErrnoException) => {
      if (signal.aborted) return reject(signal.reason);
      const isReset = error.code === 'ECONNRESET' || error.code === 'EPIPE';
      const isSilent = outgoing.reusedSocket && outgoing.socket?.bytesRead === received;
      reject(isReset && isSilent ? closedWhileIdle : error);
    });
    outgoing.on('response', (incoming) => resolve(rawResponse(outgoing, incoming)));
    for (const chunk of body) outgoing.write(chunk);
    outgoing.end();
  });
}

/** Throws for headers that HTTP cannot carry; Node names the header and keeps its value to itself. */
function begin({ target, client, agent, request }: Sending): http.ClientRequest {
  const { headers, body } = request;
  const length = body.reduce((sum, chunk) => sum + chunk.length, 0);
  try {
    return client.request({
      ...target,
      headers: { 'accept-encoding': 'identity', ...headers, 'content-length': length },
      agent,
    });
  } catch (error) {
    const { code, message } = summarize(error);
    throw code === 'ERR_INVALID_CHAR' ? unsendable(message) : error;
  }
}

function rawResponse(outgoing: http.ClientRequest, incoming: http.IncomingMessage): RawResponse {
  let failure: Error | undefined;
  // Without a listener a connection that breaks before the body is read would end the process.
  incoming.on('error', (error) => {
    failure = error;
  });
  const { headers } = incoming;
  return {
    status: incoming.statusCode ?? 0,
    header: (name) => {
      const value = headers[name];
      return Array.isArray(value) ? value.join(', ') : value;
    },
    headerNames: Object.keys(headers),
    read: (onChunk) =>
      new Promise((resolve, reject) => {
        if (failure !== undefined) return reject(failure);
        if (isEncoded(headers['content-encoding'])) {
          outgoing.destroy();
          return reject(encoded(headers['content-encoding']));
        }
        incoming.on('data', onChunk);
        incoming.on('end', resolve);
        incoming.on('error', reject);
        incoming.on('close', () => {
          if (!incoming.readableEnded) reject(new Error('the connection was closed too early'));
        });
      }),
    // Does nothing once the body has ended: the connection is then no longer this request's.
    close: () => {
      outgoing.destroy();
    },
  };
}

function isEncoded(encoding: string | undefined): boolean {
  return encoding !== undefined && encoding !== '' && encoding !== 'identity';
}

function encoded(encoding: string | undefined): AgentError {
  return new AgentError({
    kind: 'agent',
    code: 'content_encoding',
    message: `The service answered in the encoding ${encoding} though none was asked for. A proxy in between may do this.`,
  });
}

function unsendable(reason: string): AgentError {
  return new AgentError({
    kind: 'invalid',
    code: 'header',
    message: `${reason}: HTTP cannot send it, for instance a line break. Check the key or option that it is made from.`,
  });
}
