import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { createServer } from 'node:net';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream';
import { AgentError } from '../../values/errors.ts';
import type { Reader } from '../../values/input.ts';
import { callable, listOf, record, withMethods } from '../../values/input.ts';
import type { Runtime } from '../../values/runtime.ts';
import { systemRuntime } from '../../values/runtime.ts';
import type { AllowedHost } from '../allowed-host.ts';
import { allowedHost, allowsHost, hostName, parseAllowedHost } from '../allowed-host.ts';
import { connectTo } from './connect-to.ts';
import { isPublicAddress, resolveHost } from './public-address.ts';

/** Maximum number of connections of one program and everything it starts. */
const maxConnections = 256;

/** Maximum number of bytes of the header of a request. */
const maxHeaderBytes = 16_384;

/** Time without data, in milliseconds, after which a connection is closed at the next check. */
const idleMs = 300_000;

/** Maximum number of sentences about refused connections. */
const maxNotes = 10;

/** A connection that a program in a sandbox wanted to open. */
export interface HostConnection {
  /** The name or address, in lower case. */
  readonly host: string;
  readonly port: number;
  /** True if the list contains the host and its address is public. */
  readonly allowed: boolean;
}

/** The hosts that programs in a sandbox can connect to, through a proxy for HTTP and HTTPS. */
export interface HostNetwork {
  /**
   * Names of hosts: `HOST` for the ports 80 and 443, `HOST:PORT` for one port, `*.HOST` for all subdomains. Private
   * addresses are never allowed, even if one of these names has such an address.
   */
  readonly hosts: readonly string[];
  /** Receives every connection, allowed or not. Must not throw. */
  readonly onConnection?: (connection: HostConnection) => void;
  /** Returns the addresses of a name. Default: the resolver of the system. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /** Returns a socket of node:net that connects to one of these addresses. Untyped, because it is not for every runtime. */
  readonly connect?: (addresses: readonly string[], port: number) => object;
  readonly runtime?: Pick<Runtime, 'timer'>;
}

/** Reads the hosts that a sandbox allows. */
export const hostNetwork: Reader<HostNetwork> = record<HostNetwork>(
  {
    hosts: listOf(allowedHost),
    onConnection: callable,
    resolve: callable,
    connect: callable,
    runtime: withMethods('timer'),
  },
  ['hosts'],
  'true, false or an object with hosts',
);

type Target = Pick<HostConnection, 'host' | 'port'>;

/** The response to a request that is not forwarded. */
interface Refusal {
  readonly status: number;
  readonly text: string;
}

/** Importing node:http also loads all of Node's fetch, which would make every start slower. */
function nodeHttp(): typeof import('node:http') {
  return process.getBuiltinModule('node:http');
}

/** An HTTP proxy on a Unix socket. It connects only to hosts of a list, and only to public addresses. */
export class HostProxy {
  readonly #network: HostNetwork;
  readonly #hosts: readonly AllowedHost[];
  readonly #server: Server;
  readonly #sockets: Set<Socket> = new Set();
  /** Connections with a request that has no complete response yet. */
  readonly #busy: WeakSet<Socket> = new WeakSet();
  readonly #notes: Set<string> = new Set();

  /** @throws AgentError `invalid` with the code `no_sandbox` if it cannot listen at this path. */
  constructor(network: HostNetwork, path: string) {
    this.#network = network;
    this.#hosts = network.hosts.flatMap((text) => parseAllowedHost(text) ?? []);
    // This server does not listen. It parses what the other one accepts.
    const http = nodeHttp().createServer({ maxHeaderSize: maxHeaderBytes, keepAliveTimeout: 0 });
    http.on('connect', (request, socket, head) => {
      this.#tunnel(request, socket as Socket, head).catch(() => socket.destroy());
    });
    http.on('request', (request, response) => {
      this.#forward(request, response).catch(() => request.socket.destroy());
    });
    this.#server = createServer({ allowHalfOpen: true }, (socket) => {
      this.#watch(socket);
      http.emit('connection', socket);
    });
    this.#server.maxConnections = maxConnections;
    this.#server.on('drop', () =>
      this.#note(`The sandbox allows at most ${maxConnections} connections at the same time.`),
    );
    this.#server.on('error', () => {});
    this.#server.listen({ path, exclusive: true }).unref();
    if (this.#server.listening) return;
    const message = `The proxy of the sandbox cannot listen at ${path}. Set TMPDIR to a directory that you can write to and whose path is short.`;
    throw new AgentError({ kind: 'invalid', code: 'no_sandbox', message });
  }

  /** Closes all connections. Returns which ones were refused, in words. */
  close(): readonly string[] {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    return [...this.#notes];
  }

  async #tunnel(request: IncomingMessage, client: Socket, head: Buffer): Promise<void> {
    this.#begin(client);
    const opened = await this.#open(authorityOf(request.url ?? ''), client);
    if ('status' in opened) {
      client.resume().end(rawResponse(opened));
      return;
    }
    client.write('HTTP/1.1 200 Connection established\r\n\r\n');
    opened.write(head);
    opened.pipe(client).pipe(opened);
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#begin(request.socket);
    response.once('close', () => this.#busy.delete(request.socket));
    // Nothing but this URL decides on the address, the name that is sent and the path.
    const url = URL.parse(request.url ?? '');
    const opened = await this.#open(targetOf(url), response);
    if (url === null || 'status' in opened) {
      const { status, text } = 'status' in opened ? opened : notAProxyRequest;
      response.writeHead(status, { 'content-type': 'text/plain' }).end(`${text}\n`);
      return;
    }
    const isChunked = request.headers['transfer-encoding'] !== undefined;
    const onward = nodeHttp().request({
      createConnection: () => opened,
      method: request.method ?? 'GET',
      path: url.pathname + url.search,
      headers: [
        ...['Host', url.host.replace(/\.(?=:|$)/, '')],
        ...endToEnd(request.rawHeaders),
        ...(isChunked ? ['Transfer-Encoding', 'chunked'] : []),
      ],
    });
    onward.on('error', () => {});
    onward.on('close', () => {
      if (!response.headersSent) response.destroy();
    });
    onward.on('response', (answer) => {
      try {
        const { statusCode = 502, statusMessage = '', rawHeaders } = answer;
        response.writeHead(statusCode, statusMessage, endToEnd(rawHeaders));
        pipeline(answer, response, () => {});
      } catch {
        response.destroy();
      }
    });
    pipeline(request, onward, () => {});
  }

  /** A connection has one request at a time. Otherwise the maximum number of connections would not limit the requests. */
  #begin(client: Socket): void {
    if (this.#busy.has(client)) throw new Error('There is a request already.');
    this.#busy.add(client);
  }

  /** Connects to a target if that is allowed. Disconnects when the client is closed. */
  async #open(target: Target | undefined, client: Writable): Promise<Socket | Refusal> {
    if (target === undefined) return notAProxyRequest;
    const { host, port } = target;
    const { resolve = resolveHost, connect: start = connectTo, onConnection } = this.#network;
    const isListed = this.#hosts.some((one) => allowsHost(one, host, port));
    const found = isListed ? await resolve(host).catch(() => []) : [];
    // The check and the connection use the same addresses, so a name cannot get another one in between.
    const addresses = found.filter((address) => isPublicAddress(address));
    const allowed = isListed && (found.length === 0 || addresses.length > 0);
    onConnection?.({ host, port, allowed });
    if (!allowed) return { status: 403, text: this.#note(refusalText(target, isListed)) };
    if (addresses.length === 0) return { status: 502, text: `The name ${host} was not found.` };
    const upstream = start(addresses, port) as Socket;
    client.once('close', () => upstream.destroy());
    if (client.destroyed) upstream.destroy();
    try {
      await once(upstream, 'connect');
    } catch (error) {
      return { status: 502, text: `The connection to ${host}:${port} failed: ${String(error)}` };
    }
    upstream.on('error', () => client.destroy());
    return upstream;
  }

  #note(text: string): string {
    if (this.#notes.size < maxNotes) this.#notes.add(text);
    return text;
  }

  /** Destroys a socket when it has been idle. */
  #watch(socket: Socket): void {
    const { timer } = this.#network.runtime ?? systemRuntime;
    let bytes = -1;
    let cancel = () => {};
    const look = () => {
      const now = socket.bytesRead + socket.bytesWritten;
      if (now === bytes) socket.destroy();
      bytes = now;
      cancel = timer(idleMs, look);
    };
    look();
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      cancel();
      this.#sockets.delete(socket);
    });
  }
}

const notAProxyRequest: Refusal = {
  status: 400,
  text: 'This is a proxy. It accepts CONNECT HOST:PORT, and http URLs without a user name.',
};

function refusalText({ host, port }: Target, isListed: boolean): string {
  const name = `${host.slice(0, 253)}:${port}`;
  const what = `The sandbox does not allow connections to ${name}`;
  return isListed
    ? `${what}, because this name has a private address.`
    : `${what}. To allow them, the user adds ${name} to the hosts of the sandbox (--allow-host).`;
}

/** Reads the target of a CONNECT request. */
function authorityOf(text: string): Target | undefined {
  const [, name = '', port] = /^(\[[\da-f:.]+\]|[^\s:/?#@\\[\]]+):(\d{1,5})$/i.exec(text) ?? [];
  const host = hostName(name);
  return host === undefined ? undefined : { host, port: Number(port) };
}

/** Reads the target of any other request. */
function targetOf(url: URL | null): Target | undefined {
  const host = url?.protocol === 'http:' && hostName(url.hostname);
  if (!host || url.username !== '' || url.password !== '') return undefined;
  return { host, port: Number(url.port || 80) };
}

function rawResponse({ status, text }: Refusal): string {
  const length = Buffer.byteLength(text) + 1;
  return `HTTP/1.1 ${status} ${nodeHttp().STATUS_CODES[status]}\r\nContent-Type: text/plain\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n${text}\n`;
}

/** Headers for the next program on the way, or that only the proxy may set. */
const hopByHop =
  /^(host|connection|proxy-.*|keep-alive|te|trailer|transfer-encoding|upgrade|expect|http2-settings)$/i;

function endToEnd(rawHeaders: readonly string[]): string[] {
  return rawHeaders.flatMap((name, at) =>
    at % 2 === 0 && !hopByHop.test(name) ? [name, rawHeaders[at + 1] ?? ''] : [],
  );
}
