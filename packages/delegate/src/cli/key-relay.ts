import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { AgentError } from '@cobbler/agent';

/** The variables with which a program finds its service. */
export interface ServiceVariables {
  /** Variables with keys that the program sends as `x-api-key` or as a bearer token. */
  readonly keys: readonly string[];
  /** Variables with keys that the program does not need if it has one of these. */
  readonly unneeded?: readonly string[];
  /** The variable with the address of the service; absent if the program receives it as an argument. */
  readonly address?: string;
  /** The address if there is no such variable. */
  readonly defaultAddress: string;
}

/** Headers that concern one connection, not the request. */
const hopHeaders: readonly string[] = [
  ...['connection', 'expect', 'host', 'keep-alive', 'proxy-authorization', 'proxy-connection', 'te'],
  ...['trailer', 'transfer-encoding', 'upgrade'],
];

/**
 * A server on this machine between a program and its service. The program has only placeholders, which the relay
 * replaces with the keys, so that nothing the program starts or reads contains a key. Requests without a placeholder
 * are rejected, and no request reaches another service.
 */
export class KeyRelay {
  /** The address for the program. */
  readonly address: string;
  /** The environment for the program, with placeholders and this address. */
  readonly env: Readonly<Record<string, string>>;
  readonly #server: Server;

  private constructor(server: Server, address: string, env: Readonly<Record<string, string>>) {
    this.#server = server;
    this.address = address;
    this.env = env;
  }

  /**
   * Opens a relay. Returns undefined if the environment contains no key.
   * @throws AgentError `invalid` for an address that is not http or https, or a key that no header can contain.
   */
  static async open(
    service: ServiceVariables,
    env: Readonly<Record<string, string>>,
  ): Promise<KeyRelay | undefined> {
    const names = service.keys.filter((name) => env[name]);
    if (names.length === 0) return undefined;
    const keys = new Map<string, string>();
    const placeholders: Record<string, string> = {};
    for (const name of names) {
      const placeholder = `cobbler-${randomBytes(24).toString('hex')}`;
      if (!isHeaderText(env[name] ?? ''))
        throw unusable(`${name} contains characters that are not allowed in a key`);
      keys.set(placeholder, env[name] ?? '');
      placeholders[name] = placeholder;
    }
    const variable = service.address;
    const given = variable === undefined ? undefined : env[variable];
    const upstream = URL.parse(given || service.defaultAddress);
    if (upstream === null || !/^https?:$/.test(upstream.protocol))
      throw unusable('The address of the service is not an http or https URL');
    const { Agent } = upstream.protocol === 'https:' ? https : http;
    const agent = new Agent({ keepAlive: true, proxyEnv: env });
    const server = http.createServer((incoming, outgoing) =>
      forward(incoming, outgoing, { upstream, agent, keys }),
    );
    server.once('close', () => agent.destroy());
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const own = variable === undefined ? {} : { [variable]: address };
    const forProgram = { ...env, ...placeholders, ...own, ...directTo127(env) };
    for (const name of service.unneeded ?? []) delete forProgram[name];
    return new KeyRelay(server, address, forProgram);
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/** The service of a relay. */
interface Target {
  readonly upstream: URL;
  readonly agent: http.Agent;
  /** The keys by their placeholders. */
  readonly keys: ReadonlyMap<string, string>;
}

/** Returns the variables with which a program that has a proxy reaches the relay without it. */
function directTo127(env: Readonly<Record<string, string>>): Record<string, string> {
  if (!Object.keys(env).some((name) => /^(https?|all)_proxy$/i.test(name))) return {};
  const direct = [env['no_proxy'] || env['NO_PROXY'], '127.0.0.1'].filter(Boolean).join(',');
  return { NO_PROXY: direct, no_proxy: direct };
}

function forward(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { upstream, agent, keys }: Target,
): void {
  const { method, url = '' } = incoming;
  const headers = withKey(incoming.headers, keys);
  if (headers === undefined || !url.startsWith('/') || leavesBase(url)) return refuse(outgoing, 401);
  const { protocol, port, pathname } = upstream;
  const hostname = upstream.hostname.replace(/^\[|\]$/g, '');
  const { request } = protocol === 'https:' ? https : http;
  const path = pathname.replace(/\/$/, '') + url;
  // Whatever the program or the service sends must not end this process.
  const guarded = (act: () => void) => {
    try {
      act();
    } catch {
      fail();
    }
  };
  // A cut connection must look like one, so that the program retries.
  const fail = () => (outgoing.headersSent ? outgoing.destroy() : refuse(outgoing, 502));
  guarded(() => {
    const sent = request({ protocol, hostname, port, path, method, headers, agent }, (response) => {
      response.on('error', () => outgoing.destroy());
      guarded(() => {
        outgoing.writeHead(response.statusCode ?? 502, withoutHops(response.headers));
        response.pipe(outgoing);
      });
    });
    sent.on('error', fail);
    outgoing.on('close', () => sent.destroy());
    incoming.on('data', (chunk: Buffer) => {
      if (sent.write(chunk)) return;
      incoming.pause();
      sent.once('drain', () => incoming.resume());
    });
    incoming.on('end', () => guarded(() => sent.end()));
    incoming.on('error', () => sent.destroy());
  });
}

/** True if a path could lead out of the path of the service. */
function leavesBase(url: string): boolean {
  const [path = ''] = url.split('?');
  return path.split(/[/\\]/).some((part) => /^(\.|%2e){1,2}$/i.test(part));
}

/** True if a header can contain a text. */
function isHeaderText(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

function unusable(problem: string): AgentError {
  return new AgentError({ kind: 'invalid', code: 'bad_option', message: `${problem}.` });
}

/** Replaces the placeholder with its key; undefined if there is none. */
function withKey(
  given: IncomingHttpHeaders,
  keys: ReadonlyMap<string, string>,
): IncomingHttpHeaders | undefined {
  const headers = withoutHops(given);
  const own = keys.get(String(headers['x-api-key']));
  const bearer = keys.get(/^Bearer (.*)$/i.exec(headers.authorization ?? '')?.[1] ?? '');
  if (own !== undefined) headers['x-api-key'] = own;
  if (bearer !== undefined) headers.authorization = `Bearer ${bearer}`;
  return own === undefined && bearer === undefined ? undefined : headers;
}

function withoutHops(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopHeaders.includes(name)));
}

function refuse(outgoing: ServerResponse, status: number): void {
  outgoing.writeHead(status, { connection: 'close' }).end();
}
