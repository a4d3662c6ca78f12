import { request } from 'node:http';
import type { SessionStore } from '@cobbler/agent';
import { memoryStore } from '@cobbler/agent';
import { harnessFixture } from '@cobbler/conformance';
import { onTestFinished } from 'vitest';
import type { CobblerServer, ServerOptions } from '../../src/index.ts';
import { startServer, TokenStore } from '../../src/index.ts';

/** An answer whose body is there. */
export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body read as JSON; an empty object when it is none. */
  readonly json: Record<string, unknown>;
}

export interface Rig {
  readonly server: CobblerServer;
  readonly store: SessionStore;
  readonly tokens: TokenStore;
  readonly token: string;
  /** Lines of the log. */
  readonly log: readonly string[];
  /** Asks with the owner's token unless the headers say otherwise. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answered>;
  /** Opens a stream of events. It ends with the test. */
  watch(path: string, headers?: Record<string, string>): Promise<Watched>;
  /** Resolves when a session has nothing under way. */
  idle(sessionId: string): Promise<void>;
}

/** Starts a server over the scene of the harness contract, until the test is over. */
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
  // A test that was held up for longer than connections idle would take up one that is being closed.
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

/** What a page has of the server: the cookie is the browser's, the key is the page's own. */
export interface PageAccess {
  /** As a browser sends it. */
  readonly cookie: string;
  readonly key: string;
  /** As the server sets it. */
  readonly set: string;
}

/** Exchanges a token as a page does. */
export async function signedIn(ask: Rig['ask'], token: string): Promise<PageAccess> {
  const { headers, json } = await ask('POST', '/v1/cookie', { token }, { authorization: '' });
  const set = headers.get('set-cookie') ?? '';
  return { cookie: set.split(';')[0] ?? '', key: String(json['key']), set };
}

/** Lets other things happen. */
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

/** A stream of events that is being read. */
export interface Watched {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly frames: readonly Frame[];
  /** Comments so far. */
  readonly comments: readonly string[];
  /** Resolves with the first frame that fits, those included that came already. */
  until(isIt: (frame: Frame) => boolean): Promise<Frame>;
  /** Resolves when the stream is over. */
  readonly over: Promise<void>;
  close(): void;
}

/** Reads a stream over plain node:http, so that nothing of fetch is in between. */
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
