import type http from 'node:http';
import { urlToHttpOptions } from 'node:url';
import type { RawResponse, Transport, TransportRequest } from '../provider/wire/transport.ts';
import { AgentError, summarize } from '../values/errors.ts';
import type { Runtime } from '../values/runtime.ts';
import { proxyOf, readsProxies } from './proxy.ts';

/**
 * Creates a transport over keep-alive connections of Node's own HTTP client, which costs a tenth of what fetch does.
 * Idle connections do not keep the process alive. Proxies from the environment are used if Node supports them (22.21 or
 * later, 24.5 or later).
 */
export function nodeTransport(): Transport {
  const clients = new Clients();
  return (request) =>
    new Promise((resolve, reject) => {
      const target = clients.target(request.url);
      const client = clients.of(target);
      const failed = (error: unknown) => reject(withProxy(error, request.url));
      send({ target, client, agent: client.kept, request }, resolve, (error) => {
        // The server closed an idle connection while the request was being sent, so it processed none of it.
        if (error !== closedWhileIdle) failed(error);
        else send({ target, client, agent: client.fresh, request }, resolve, failed);
      });
    });
}

/** Adds the proxy to the error of a connection that was made through one. */
function withProxy(error: unknown, url: string): unknown {
  if (!(error instanceof Error) || AgentError.is(error) || !readsProxies(process.versions.node)) return error;
  const proxy = proxyOf(new URL(url), process.env);
  return proxy === undefined ? error : Object.assign(error, { proxy });
}

let shared: Transport | undefined;

/** Returns the default transport of this platform, shared by the whole process. */
export function defaultTransport(_runtime: Runtime): Transport {
  shared ??= nodeTransport();
  return shared;
}

interface Target
  extends Pick<http.ClientRequestArgs, 'protocol' | 'hostname' | 'port' | 'path' | 'auth' | 'method'> {
  /** Value of the `host` header, as in RFC 9110, 7.2. */
  readonly host: string;
}

/** The HTTP client for one protocol. */
interface Client {
  readonly request: typeof http.request;
  readonly kept: http.Agent;
  /** Opens a new connection for each request. */
  readonly fresh: http.Agent;
  /** True if Node adds headers to a request, as it does for a plain HTTP proxy. */
  readonly addsHeaders: boolean;
}

class Clients {
  readonly #clients = new Map<string, Client>();
  #url: string | undefined;
  #target: Target | undefined;

  /** Parses a URL. Only the last one is cached, because an agent has one URL. */
  target(url: string): Target {
    if (this.#target === undefined || url !== this.#url) {
      const parsed = new URL(url);
      const { protocol, hostname, port, path, auth } = urlToHttpOptions(parsed);
      this.#target = { protocol, hostname, host: parsed.host, port, path, auth, method: 'POST' };
      this.#url = url;
    }
    return this.#target;
  }

  of({ protocol }: Target): Client {
    const name = protocol === 'http:' ? 'node:http' : 'node:https';
    const known = this.#clients.get(name);
    if (known !== undefined) return known;
    // Importing node:http also loads all of Node's fetch, which takes longer than a whole request.
    const { Agent, request } = process.getBuiltinModule(name);
    const options = { noDelay: true, proxyEnv: process.env };
    const client: Client = {
      request,
      kept: new Agent({ ...options, keepAlive: true, scheduling: 'lifo' }),
      fresh: new Agent({ ...options, keepAlive: false }),
      addsHeaders:
        protocol === 'http:' && (process.env['http_proxy'] ?? process.env['HTTP_PROXY']) !== undefined,
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

/**
 * Sends a request on one connection.
 * @throws AgentError `invalid` for headers that HTTP cannot carry.
 */
function send(
  sending: Sending,
  resolve: (response: RawResponse) => void,
  reject: (error: unknown) => void,
): void {
  const body = inFew(sending.request.body);
  const giving = new GivingUp(sending.request);
  if (giving.isUp) return reject(giving.reason);
  const outgoing = begin(sending);
  giving.listen(() => outgoing.destroy());
  let isSettled = false;
  outgoing.on('close', () => {
    giving.stop();
    // This is all that Node reports if a response switches to another protocol.
    if (!isSettled) reject(new Error('the connection was closed before a response arrived'));
  });
  let received = 0;
  outgoing.on('socket', (socket) => {
    received = socket.bytesRead;
  });
  // Never removed, because a request can also fail after its response has started.
  outgoing.on('error', (error: NodeJS.ErrnoException) => {
    isSettled = true;
    if (giving.isUp) return reject(giving.reason);
    const isReset = error.code === 'ECONNRESET' || error.code === 'EPIPE';
    const isSilent = outgoing.reusedSocket && outgoing.socket?.bytesRead === received;
    reject(isReset && isSilent ? closedWhileIdle : error);
  });
  outgoing.on('response', (incoming) => {
    isSettled = true;
    resolve(rawResponse(outgoing, incoming));
  });
  const last = body.length - 1;
  for (let index = 0; index < last; index += 1) outgoing.write(body[index]);
  outgoing.end(body[last]);
}

/** Adjacent chunks of up to this many bytes in total are sent as one: each chunk costs more than copying that much. */
const copied = 4096;

function inFew(body: readonly Uint8Array[]): Uint8Array[] {
  const groups: Uint8Array[][] = [];
  let room = 0;
  for (const chunk of body) {
    const together = groups.at(-1);
    if (together === undefined || chunk.length > room) {
      groups.push([chunk]);
      room = copied;
    } else together.push(chunk);
    room -= chunk.length;
  }
  return groups.map(joinChunks);
}

/** Uses Node's buffer pool: separate memory would cost the garbage collector more than the copy. */
function joinChunks(group: readonly Uint8Array[]): Uint8Array {
  const [only] = group;
  return only !== undefined && group.length === 1 ? only : Buffer.concat(group);
}

function lengthOf(body: readonly Uint8Array[]): number {
  let length = 0;
  for (const chunk of body) length += chunk.length;
  return length;
}

/** The state and reason of an aborted request, by signal or callback. */
class GivingUp {
  isUp: boolean;
  reason: unknown;
  readonly #request: TransportRequest;
  #onAbort: (() => void) | undefined;

  constructor(request: TransportRequest) {
    this.#request = request;
    this.isUp = request.whenGivenUp === undefined && request.signal.aborted;
    if (this.isUp) this.reason = request.signal.reason;
  }

  listen(destroy: () => void): void {
    const givenUp = (reason: unknown) => {
      this.isUp = true;
      this.reason = reason;
      destroy();
    };
    const { whenGivenUp } = this.#request;
    if (whenGivenUp !== undefined) return whenGivenUp(givenUp);
    const { signal } = this.#request;
    this.#onAbort = () => givenUp(signal.reason);
    signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Removes the listener, because a signal can outlive the connection. */
  stop(): void {
    if (this.#onAbort !== undefined) this.#request.signal.removeEventListener('abort', this.#onAbort);
  }
}

/**
 * Starts a request. Throws for headers that HTTP cannot carry; Node's error contains the header name but not its value.
 */
function begin(sending: Sending): http.ClientRequest {
  const { target, client, agent } = sending;
  try {
    return client.request({ ...target, headers: headersOf(sending), agent });
  } catch (error) {
    const { code, message } = summarize(error);
    throw code === 'ERR_INVALID_CHAR' ? unsendable(message) : error;
  }
}

/**
 * Returns the headers. A flat list is written directly; an object is first copied into a table that every waiting
 * request would keep in memory. Only headers that Node adds itself, for a proxy or for credentials in the URL, need the
 * table.
 */
function headersOf({ target, client, request }: Sending): http.OutgoingHttpHeaders | string[] {
  const { headers, body } = request;
  const length = String(lengthOf(body));
  const named = { 'accept-encoding': 'identity', ...headers, 'content-length': length };
  if (client.addsHeaders || target.auth !== undefined) return named;
  const list = 'host' in named ? [] : ['host', target.host];
  for (const [name, value] of Object.entries(named)) list.push(name, value);
  return list;
}

function rawResponse(outgoing: http.ClientRequest, incoming: http.IncomingMessage): RawResponse {
  let failure: Error | undefined;
  // Without a listener, a connection that is lost before the body is read would end the process.
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
          if (!incoming.readableEnded)
            reject(new Error('the connection was closed before the response was complete'));
        });
      }),
    // Does nothing after the body has ended, because the connection no longer belongs to this request.
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
    message: `The response has the content encoding ${encoding}, although the request accepts none. A proxy may have added it.`,
  });
}

function unsendable(reason: string): AgentError {
  return new AgentError({
    kind: 'invalid',
    code: 'header',
    message: `${reason}. HTTP headers cannot contain characters such as line breaks. Check the key or option that the header comes from.`,
  });
}
