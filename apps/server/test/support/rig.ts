import { request } from 'node:http';
import type { SessionStore } from '@cobbler/agent';
import { memoryStore } from '@cobbler/agent';
import { harnessFixture } from '@cobbler/conformance';
import { onTestFinished } from 'vitest';
import type { CobblerServer, ServerOptions } from '../../src/index.ts';
import { startServer, TokenStore } from '../../src/index.ts';

/** A complete response. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body parsed as JSON; an empty object if it is not JSON. */
  readonly json: Record<string, unknown>;
}

export interface Rig {
  readonly server: CobblerServer;
  readonly store: SessionStore;
  readonly tokens: TokenStore;
  readonly token: string;
  /** The lines of the server's log. */
  readonly log: readonly string[];
  /** Sends a request with the owner token unless the headers set another one. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answered>;
  /** Opens an event stream until the test ends. */
  watch(path: string, headers?: Record<string, string>): Promise<Watched>;
  /** Resolves when a session has no active run. */
  idle(sessionId: string): Promise<void>;
}

/** Starts a server with the fixture of the harness contract until the test ends. */
export async function rig(options: Partial<ServerOptions> = {}): Promise<Rig> {
  const store = options.store ?? memoryStore();
  const tokens = options.tokens ?? new TokenStore();
  const token = tokens.own();
  const log: string[] = [];
  const server = await startServer({
    settings: () => harnessFixture(),
    level: 'debug',
    log: (line) => log.push(line),
    ...options,
    limits: { drainMs: 100, ...options.limits },
    store,
    tokens,
  });
  // A delayed test could otherwise reuse a connection that the server is closing.
  server.http.keepAliveTimeout = 0;
  onTestFinished(() => server.close());
  const authorization = `Bearer ${token}`;
  const ask: Rig['ask'] = async (method, path, body, headers = {}) => {
    const response = await fetch(server.url + path, {
      method,
      headers: {
        authorization,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: jsonOf(text) };
  };
  return {
    server,
    store,
    tokens,
    token,
    log,
    ask,
    watch: (path, headers = {}) => watch(server.url + path, { authorization, ...headers }),
    async idle(sessionId) {
      while (typeof (await ask('GET', `/v1/sessions/${sessionId}`)).json['runId'] === 'string')
        await moment();
    },
  };
}

/** The credentials of a page: the cookie, which the browser sends, and the page key. */
export interface PageAccess {
  /** The cookie as a browser sends it. */
  readonly cookie: string;
  readonly key: string;
  /** The cookie as the server sets it. */
  readonly set: string;
}

/** Exchanges a token for a cookie, as a page does. */
export async function signedIn(ask: Rig['ask'], token: string): Promise<PageAccess> {
  const { headers, json } = await ask('POST', '/v1/cookie', { token }, { authorization: '' });
  const set = headers.get('set-cookie') ?? '';
  return { cookie: set.split(';')[0] ?? '', key: String(json['key']), set };
}

/** Yields to other tasks. */
export function moment(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function jsonOf(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** One frame of a stream. */
export interface Frame {
  readonly id?: string;
  /** The data as it was sent. */
  readonly data: string;
  readonly json: Record<string, unknown>;
}

/** An open event stream. */
export interface Watched {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly frames: readonly Frame[];
  /** The comments received so far. */
  readonly comments: readonly string[];
  /** Resolves with the first matching frame, including frames that were already received. */
  until(isIt: (frame: Frame) => boolean): Promise<Frame>;
  /** Resolves when the stream ends. */
  readonly over: Promise<void>;
  close(): void;
}

/** Reads a stream with node:http, so that fetch does not affect the result. */
export function watch(url: string, headers: Record<string, string>): Promise<Watched> {
  const frames: Frame[] = [];
  const comments: string[] = [];
  const waiting = new Set<() => void>();
  const over = Promise.withResolvers<void>();
  const { promise, resolve, reject } = Promise.withResolvers<Watched>();
  const asked = request(url, { headers, agent: false }, (response) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      text += chunk;
      for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
        take(text.slice(0, end), frames, comments);
        text = text.slice(end + 2);
      }
      for (const wake of waiting) wake();
    });
    response.on('close', over.resolve);
    response.on('error', () => undefined);
    resolve({
      headers: { ...response.headers, status: String(response.statusCode) },
      frames,
      comments,
      over: over.promise,
      close: () => asked.destroy(),
      until: (isIt) =>
        new Promise((found) => {
          const look = () => {
            const frame = frames.find(isIt);
            if (frame === undefined) return;
            waiting.delete(look);
            found(frame);
          };
          waiting.add(look);
          look();
        }),
    });
  });
  asked.on('error', reject);
  asked.end();
  onTestFinished(() => void asked.destroy());
  return promise;
}

function take(block: string, frames: Frame[], comments: string[]): void {
  const lines = block.split('\n');
  const value = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
  for (const line of lines) if (line.startsWith(':')) comments.push(line);
  const data = value('data');
  if (data === undefined) return;
  const id = value('id');
  frames.push({ data, json: jsonOf(data), ...(id !== undefined && { id }) });
}
