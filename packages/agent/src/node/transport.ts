import type http from 'node:http';
import { urlToHttpOptions } from 'node:url';
import { lengthOf } from '../provider/http/bytes.ts';
import type { RawResponse, Transport, TransportRequest } from '../provider/wire/transport.ts';
import { AgentError, summarize } from '../values/errors.ts';
import type { Runtime } from '../values/runtime.ts';

/**
 * Creates a transport over keep-alive connections of Node's own HTTP client, which costs a tenth of what fetch does.
 * Idle connections do not keep the process alive. Proxies from the environment are used if Node supports them (22.21 or
 * later, 24.5 or later).
 */
export function nodeTransport(): Transport {
  const routes = new Routes();
  return (request) =>
    new Promise((resolve, reject) => {
      const route = routes.of(request);
      const failed = (error: unknown) => reject(withProxy(error, request.url));
      send(route, route.client.kept, request, resolve, (error) => {
        // The server closed an idle connection while the request was being sent, so it processed none of it.
        if (error === closedWhileIdle) send(route, route.client.fresh, request, resolve, failed);
        else failed(error);
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

interface Client {
  readonly request: typeof http.request;
  readonly kept: http.Agent;
  /** Opens a new connection for each request. */
  readonly fresh: http.Agent;
  /** True if Node adds headers to a request, as it does for a plain HTTP proxy. */
  readonly addsHeaders: boolean;
}

/** Everything about a request except its body. */
interface Route {
  readonly url: string;
  readonly headers: TransportRequest['headers'];
  readonly client: Client;
  /** Node reads them when a request starts, so that only the length of its body is set for each. */
  readonly options: http.ClientRequestArgs;
  readonly setLength: (length: number) => void;
}

class Routes {
  readonly #clients = new Map<string, Client>();
  #last: Route | undefined;

  /** Returns the route of a request. The last one is cached, because an agent has one URL and seldom other headers. */
  of({ url, headers }: TransportRequest): Route {
    const last = this.#last;
    if (last?.url === url && last.headers === headers && Object.isFrozen(headers)) return last;
    const parsed = new URL(url);
    const { protocol, hostname, port, path, auth } = urlToHttpOptions(parsed);
    const client = this.#client(protocol === 'http:' ? 'node:http' : 'node:https');
    const needsTable = client.addsHeaders || auth !== undefined;
    const sent = needsTable ? headerTable(headers) : headerList(headers, parsed.host);
    this.#last = {
      url,
      headers,
      client,
      options: { protocol, hostname, port, path, auth, method: 'POST', headers: sent.headers },
      setLength: sent.setLength,
    };
    return this.#last;
  }

  #client(name: 'node:http' | 'node:https'): Client {
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
        name === 'node:http' && (process.env['http_proxy'] ?? process.env['HTTP_PROXY']) !== undefined,
    };
    this.#clients.set(name, client);
    return client;
  }
}
type SentHeaders = Pick<Route, 'setLength'> & Required<Pick<http.ClientRequestArgs, 'headers'>>;

/** Returns the headers as a table, which stays in memory. Needed for headers that Node adds: for a proxy or credentials. */
function headerTable(given: TransportRequest['headers']): SentHeaders {
  const headers: Record<string, string> = { 'accept-encoding': 'identity', ...given };
  const setLength = (length: number) => {
    headers['content-length'] = String(length);
  };
  return { headers, setLength };
}

/** Returns the headers as a flat list, which Node writes directly. */
function headerList(given: TransportRequest['headers'], host: string): SentHeaders {
  const named: Record<string, string> = { host, 'accept-encoding': 'identity', ...given };
  delete named['content-length'];
  const headers = [...Object.entries(named).flat(), 'content-length', ''];
  const place = headers.length - 1;
  const setLength = (length: number) => {
    headers[place] = String(length);
  };
  return { headers, setLength };
}

const closedWhileIdle: unique symbol = Symbol('closed while idle');

/**
 * Sends a request on one connection.
 * @throws AgentError `invalid` for headers that HTTP cannot carry.
 */
function send(
  route: Route,
  agent: http.Agent,
  request: TransportRequest,
  resolve: (response: RawResponse) => void,
  reject: (error: unknown) => void,
): void {
  const { whenGivenUp } = request;
  // The signal may be created only when it is read.
  const signal = whenGivenUp === undefined ? request.signal : undefined;
  if (signal?.aborted) return reject(signal.reason);
  const outgoing = begin(route, agent, lengthOf(request.body));
  let givenUp: { readonly reason: unknown } | undefined;
  const giveUp = (reason: unknown) => {
    givenUp = { reason };
    outgoing.destroy();
  };
  const onAbort = signal && (() => giveUp(signal.reason));
  if (onAbort === undefined) whenGivenUp?.(giveUp);
  else signal?.addEventListener('abort', onAbort, { once: true });
  let isSettled = false;
  outgoing.on('close', () => {
    // A signal can outlive the connection.
    if (onAbort !== undefined) signal?.removeEventListener('abort', onAbort);
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
    if (givenUp !== undefined) return reject(givenUp.reason);
    const isReset = error.code === 'ECONNRESET' || error.code === 'EPIPE';
    const isSilent = outgoing.reusedSocket && outgoing.socket?.bytesRead === received;
    reject(isReset && isSilent ? closedWhileIdle : error);
  });
  outgoing.on('response', (incoming) => {
    isSettled = true;
    resolve(rawResponse(outgoing, incoming));
  });
  writeBody(outgoing, request.body);
}

/** Adjacent chunks of up to this many bytes in total are sent as one: each chunk costs more than copying that much. */
const copied = 4096;

function writeBody(outgoing: http.ClientRequest, body: readonly Uint8Array[]): void {
  let from = 0;
  while (from < body.length) {
    let length = body[from]?.length ?? 0;
    let upTo = from + 1;
    for (let next = body[upTo]; next !== undefined && length + next.length <= copied; next = body[upTo]) {
      length += next.length;
      upTo += 1;
    }
    const chunk = upTo - from === 1 ? body[from] : joined(body, from, upTo, length);
    if (upTo === body.length) outgoing.end(chunk);
    else outgoing.write(chunk);
    from = upTo;
  }
  if (from === 0) outgoing.end();
}

/** Uses Node's buffer pool: separate memory would cost the garbage collector more than the copy. */
function joined(body: readonly Uint8Array[], from: number, upTo: number, length: number): Uint8Array {
  const whole = Buffer.allocUnsafe(length);
  let at = 0;
  for (let index = from; index < upTo; index += 1) {
    const chunk = body[index] as Uint8Array;
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/** Starts a request. Throws for headers that HTTP cannot carry; Node's error contains the header name but not its value. */
function begin({ client, options, setLength }: Route, agent: http.Agent, length: number): http.ClientRequest {
  setLength(length);
  options.agent = agent;
  try {
    return client.request(options);
  } catch (error) {
    const { code, message } = summarize(error);
    throw code === 'ERR_INVALID_CHAR' ? unsendable(message) : error;
  }
}

function rawResponse(outgoing: http.ClientRequest, incoming: http.IncomingMessage): RawResponse {
  const { headers } = incoming;
  let failure: Error | undefined;
  let fail = (error: Error): void => {
    failure = error;
  };
  // Without a listener, a connection that is lost before the body is read would end the process.
  incoming.on('error', (error) => fail(error));
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
        fail = reject;
        incoming.on('data', onChunk);
        incoming.on('end', resolve);
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

/** A proxy from the environment, in a form that is safe to display. */
interface EnvironmentProxy {
  /** URL without user and password. */
  readonly address: string;
  readonly variable: string;
}

type Variables = Readonly<Record<string, string | undefined>>;

/** Returns whether this version of Node can use the proxies from the environment. */
export function readsProxies(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21);
}

/** Returns the proxy that Node uses for a request, by the rules of Node's `proxyEnv`. */
export function proxyOf(
  { protocol, hostname, port }: Pick<URL, 'protocol' | 'hostname' | 'port'>,
  env: Variables,
): EnvironmentProxy | undefined {
  const names = protocol === 'https:' ? ['https_proxy', 'HTTPS_PROXY'] : ['http_proxy', 'HTTP_PROXY'];
  const variable = names.find((name) => (env[name] ?? '') !== '');
  const url = variable === undefined ? null : URL.parse(env[variable] ?? '');
  if (variable === undefined || url === null) return undefined;
  const direct = (env['no_proxy'] || env['NO_PROXY'] || '').split(/[,\s]+/);
  if (direct.some((entry) => isDirect(entry.toLowerCase(), hostname.toLowerCase(), port))) return undefined;
  return { address: `${url.protocol}//${url.host}`, variable };
}

function isDirect(entry: string, hostname: string, port: string): boolean {
  if (entry === '') return false;
  if (entry === '*' || entry === hostname || entry === `${hostname}:${port}`) return true;
  return /^\*?\./.test(entry) && hostname.endsWith(entry.replace(/^\*/, ''));
}
