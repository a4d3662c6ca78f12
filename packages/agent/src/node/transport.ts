import type http from 'node:http';
import { urlToHttpOptions } from 'node:url';
import type { RawResponse, Transport, TransportRequest } from '../provider/wire/transport.ts';
import { AgentError, summarize } from '../values/errors.ts';
import type { Runtime } from '../values/runtime.ts';
import { proxyOf, readsProxies } from './proxy.ts';

/**
 * A transport over keep-alive connections of Node's own HTTP client, which costs a tenth of what fetch does.
 * Idle connections do not keep the process alive. Proxies named in the environment are used where Node
 * supports it (22.21 and 24.5 on).
 */
export function nodeTransport(): Transport {
  const clients = new Clients();
  return (request) =>
    new Promise((resolve, reject) => {
      const target = clients.target(request.url);
      const client = clients.of(target);
      const failed = (error: unknown) => reject(withProxy(error, request.url));
      send({ target, client, agent: client.kept, request }, resolve, (error) => {
        // The server closed an idle connection while the request was on its way: nothing of it was taken.
        if (error !== closedWhileIdle) failed(error);
        else send({ target, client, agent: client.fresh, request }, resolve, failed);
      });
    });
}

/** Names the proxy in the error of a connection that was made through one. */
function withProxy(error: unknown, url: string): unknown {
  if (!(error instanceof Error) || AgentError.is(error) || !readsProxies(process.versions.node)) return error;
  const proxy = proxyOf(new URL(url), process.env);
  return proxy === undefined ? error : Object.assign(error, { proxy });
}

let shared: Transport | undefined;

/** The transport of this platform, for programs that choose none: one for the whole process. */
export function defaultTransport(_runtime: Runtime): Transport {
  shared ??= nodeTransport();
  return shared;
}

interface Target
  extends Pick<http.ClientRequestArgs, 'protocol' | 'hostname' | 'port' | 'path' | 'auth' | 'method'> {
  /** As the `host` header names it, in RFC 9110, 7.2. */
  readonly host: string;
}

/** What speaks one protocol. */
interface Client {
  readonly request: typeof http.request;
  readonly kept: http.Agent;
  /** Gives a new connection each time. */
  readonly fresh: http.Agent;
  /** Requests to a proxy by plain HTTP get headers of its own. */
  readonly addsHeaders: boolean;
}

class Clients {
  readonly #clients = new Map<string, Client>();
  #url: string | undefined;
  #target: Target | undefined;

  /** An agent has one address, so only the last one is kept. */
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
    // Importing node:http makes Node load all of its fetch as well, which takes longer than a whole request.
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

/** @throws AgentError `invalid` for headers that HTTP cannot carry. */
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
    // All that Node tells of an answer that switches to another protocol.
    if (!isSettled) reject(new Error('the connection was closed before there was an answer'));
  });
  let received = 0;
  outgoing.on('socket', (socket) => {
    received = socket.bytesRead;
  });
  // Stays for good: a request may also fail after its response has begun.
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

/** Neighbouring pieces up to this many bytes together are sent as one: each piece costs more than copying that much. */
const copied = 4096;

function inFew(body: readonly Uint8Array[]): Uint8Array[] {
  const groups: Uint8Array[][] = [];
  let room = 0;
  for (const piece of body) {
    const together = groups.at(-1);
    if (together === undefined || piece.length > room) {
      groups.push([piece]);
      room = copied;
    } else together.push(piece);
    room -= piece.length;
  }
  return groups.map(joined);
}

/** From Node's pool: memory of its own would cost the collector more than the copy. */
function joined(group: readonly Uint8Array[]): Uint8Array {
  const [only] = group;
  return only !== undefined && group.length === 1 ? only : Buffer.concat(group);
}

function lengthOf(body: readonly Uint8Array[]): number {
  let length = 0;
  for (const chunk of body) length += chunk.length;
  return length;
}

/** Whether and why a request is given up, in whichever way it says so. */
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

  /** A signal may live longer than the connection. */
  stop(): void {
    if (this.#onAbort !== undefined) this.#request.signal.removeEventListener('abort', this.#onAbort);
  }
}

/** Throws for headers that HTTP cannot carry; Node names the header and keeps its value to itself. */
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
 * A list of names and values is written as it is; an object is copied into a table first, which each waiting
 * request would then hold. Only what Node adds itself, for a proxy or for a user in the URL, needs that table.
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
