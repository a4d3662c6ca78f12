import type { Socket } from 'node:net';
import { connect } from 'node:net';

/** The server under attack. The attacker has a token; without one, every response is 401. */
export interface Target {
  readonly url: string;
  readonly token: string;
}

/** A bad request and its documented outcome: a status or a closed connection. */
export interface Attack {
  readonly name: string;
  readonly expected: number | 'hung up';
  /** Returns the data to send, in order. */
  readonly bytes: (target: Target) => readonly string[];
}

function get(path: string, headers = '', version = '1.1'): Attack['bytes'] {
  return ({ token }) => [
    `GET ${path} HTTP/${version}\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n${headers}\r\n`,
  ];
}

function post(path: string, headers: string, body: string): Attack['bytes'] {
  return ({ token }) => [
    `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n${headers}\r\n${body}`,
  ];
}

function json(path: string, body: string): Attack['bytes'] {
  return post(path, `content-type: application/json\r\ncontent-length: ${body.length}\r\n`, body);
}

function bare(head: string): Attack['bytes'] {
  return () => [`${head}\r\n\r\n`];
}

const prompt = '/v1/sessions/honest/prompt';
/** Larger than the maximum body: a chunk of 0x110000 bytes. */
const large = 'x'.repeat(0x110000);
const typed = 'content-type: application/json\r\n';

/** Bad requests that the server answers at once. */
export const attacks: readonly Attack[] = [
  { name: 'a request that is not HTTP', expected: 400, bytes: bare('EHLO attacker') },
  {
    name: 'a header with a bare line feed',
    expected: 400,
    bytes: get('/v1/sessions', 'x-a: b\nset-cookie: c\r\n'),
  },
  { name: 'a header with a NUL byte', expected: 400, bytes: get('/v1/sessions', 'x-a: b\0c\r\n') },
  { name: 'a folded header', expected: 400, bytes: get('/v1/sessions', 'x-request-id: a\r\n\x01b: c\r\n') },
  { name: 'a line break in a path', expected: 404, bytes: get('/v1/sessions/a%0d%0aset-cookie:%20b=c') },
  {
    name: 'a line break in an event id',
    expected: 400,
    bytes: get('/v1/sessions/honest/events?after=1%0d%0ax:'),
  },
  {
    name: 'an invalid event id',
    expected: 400,
    bytes: get('/v1/sessions/honest/events', 'last-event-id: x\r\n'),
  },
  {
    name: 'two different content-length headers',
    expected: 400,
    bytes: post(prompt, 'content-length: 1\r\ncontent-length: 2\r\n', '{}'),
  },
  {
    name: 'both a content-length and chunked encoding',
    expected: 400,
    bytes: post(prompt, `${typed}content-length: 5\r\ntransfer-encoding: chunked\r\n`, '0\r\n\r\n'),
  },
  {
    name: 'a chunk with an invalid size',
    expected: 400,
    bytes: post(prompt, `${typed}transfer-encoding: chunked\r\n`, 'zz\r\n{}\r\n0\r\n\r\n'),
  },
  { name: 'headers of 20 KiB', expected: 431, bytes: get('/v1/sessions', `x-a: ${'a'.repeat(20_000)}\r\n`) },
  {
    name: 'a body with a content-length that is too large',
    expected: 413,
    bytes: post(prompt, `${typed}content-length: 2000000\r\n`, ''),
  },
  {
    name: 'a chunked body that is too large',
    expected: 413,
    bytes: post(prompt, `${typed}transfer-encoding: chunked\r\n`, `110000\r\n${large}`),
  },
  { name: 'a body that is not JSON', expected: 400, bytes: json(prompt, '{"content":') },
  { name: 'a body nested 100,000 levels deep', expected: 400, bytes: json(prompt, '['.repeat(100_000)) },
  {
    name: 'a body with an unknown field',
    expected: 400,
    bytes: json(prompt, '{"content":"a","tools":["run_command"]}'),
  },
  {
    name: 'a body with a __proto__ key',
    expected: 400,
    bytes: json(prompt, '{"content":"a","__proto__":{"a":1}}'),
  },
  {
    name: 'a form body',
    expected: 415,
    bytes: post(
      prompt,
      'content-type: application/x-www-form-urlencoded\r\ncontent-length: 9\r\n',
      'content=a',
    ),
  },
  {
    name: 'a compressed body',
    expected: 415,
    bytes: post(prompt, `${typed}content-encoding: gzip\r\ncontent-length: 2\r\n`, '{}'),
  },
  {
    name: 'an invalid idempotency key',
    expected: 400,
    bytes: post(prompt, `${typed}idempotency-key: ../a\r\ncontent-length: 15\r\n`, '{"content":"a"}'),
  },
  ...[
    'host: 127.0.0.1',
    'host: evil.example',
    'authorization: Bearer cbk_other',
    'cobbler-page: a\r\ncobbler-page: b',
    'cookie: cobbler=a\r\ncookie: cobbler=b',
    'last-event-id: 1\r\nlast-event-id: 2',
    'origin: http://127.0.0.1\r\norigin: http://127.0.0.1',
  ].map(
    (lines): Attack => ({
      name: `a duplicate header (${lines.split('\r\n').at(-1)})`,
      expected: 400,
      bytes: get('/v1/sessions', `${lines}\r\n`),
    }),
  ),
  {
    name: 'an identical content-length twice',
    expected: 400,
    bytes: post(prompt, `${typed}content-length: 2\r\ncontent-length: 2\r\n`, '{}'),
  },
  {
    name: 'a duplicate content type',
    expected: 400,
    bytes: post(prompt, `${typed}${typed}content-length: 15\r\n`, '{"content":"a"}'),
  },
  { name: 'no host', expected: 400, bytes: bare('GET /v1/sessions HTTP/1.1') },
  {
    name: 'an unknown host',
    expected: 403,
    bytes: bare('GET /v1/sessions HTTP/1.1\r\nhost: evil.example'),
  },
  {
    name: 'a host that starts like the server host',
    expected: 403,
    bytes: bare('GET / HTTP/1.1\r\nhost: 127.0.0.1.evil.example'),
  },
  ...['evil127.0.0.1', 'evillocalhost', 'evil.localhost'].map(
    (host): Attack => ({
      name: `an unknown host ${host}`,
      expected: 403,
      bytes: bare(`GET / HTTP/1.1\r\nhost: ${host}`),
    }),
  ),
  {
    name: 'a request from another origin',
    expected: 403,
    bytes: get('/v1/sessions', 'origin: https://evil.example\r\n'),
  },
  { name: 'a request with a null origin', expected: 403, bytes: get('/v1/sessions', 'origin: null\r\n') },
  { name: 'a plain path traversal', expected: 404, bytes: get('/v1/sessions/../../../etc/passwd') },
  {
    name: 'an encoded path traversal',
    expected: 404,
    bytes: get('/v1/sessions/%2e%2e%2f%2e%2e%2fetc%2fpasswd/messages'),
  },
  {
    name: 'a path traversal with backslashes',
    expected: 404,
    bytes: get('/v1/sessions/..%5c..%5cserver.db/messages'),
  },
  {
    name: 'a protocol-relative URL of another server',
    expected: 404,
    bytes: get('//evil.example/v1/sessions'),
  },
  { name: 'an absolute request target', expected: 400, bytes: get('http://evil.example/v1/sessions') },
  { name: 'no token', expected: 401, bytes: bare('GET /v1/sessions HTTP/1.1\r\nhost: 127.0.0.1') },
  {
    name: 'a guessed token',
    expected: 401,
    bytes: bare('GET /v1/sessions HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer cbk_guessed'),
  },
  {
    name: 'an unsupported method',
    expected: 405,
    bytes: bare('TRACE /v1/sessions HTTP/1.1\r\nhost: 127.0.0.1'),
  },
  {
    name: 'a CONNECT request',
    expected: 'hung up',
    bytes: bare('CONNECT evil.example:443 HTTP/1.1\r\nhost: 127.0.0.1'),
  },
  {
    name: 'a WebSocket upgrade',
    expected: 'hung up',
    bytes: bare('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: upgrade\r\nupgrade: websocket'),
  },
];

/** Bad requests that never end; the server answers when their time limit expires. */
export const slowAttacks: readonly Attack[] = [
  {
    name: 'headers that never end',
    expected: 408,
    bytes: () => ['GET /v1/sessions HTTP/1.1\r\nhost: 127.0.0.1\r\nx-a: '],
  },
  {
    name: 'a body that never ends',
    expected: 408,
    bytes: post(prompt, `${typed}content-length: 1000\r\n`, '{"content":"'),
  },
];

/** Sends a bad request, then single bytes until the server responds. Returns the outcome. */
export function attacked(target: Target, { bytes }: Attack, dripMs?: number): Promise<number | 'hung up'> {
  return new Promise((resolve) => {
    const socket = dial(target);
    let text = '';
    let drip: NodeJS.Timeout | undefined;
    const over = (outcome: number | 'hung up') => {
      clearInterval(drip);
      socket.destroy();
      resolve(outcome);
    };
    socket.setEncoding('latin1').on('data', (chunk: string) => {
      text += chunk;
      const status = /^HTTP\/1\.1 (\d{3}) [\s\S]*\r\n\r\n/.exec(text)?.[1];
      if (status !== undefined) over(Number(status));
    });
    socket.on('close', () => over('hung up'));
    socket.on('connect', () => {
      for (const piece of bytes(target)) socket.write(piece, 'latin1');
      if (dripMs !== undefined) drip = setInterval(() => socket.write('a'), dripMs);
    });
  });
}

/** Opens an event stream of a session and never reads from it. */
export function stalledReader(target: Target, sessionId: string): Socket {
  const socket = dial(target);
  socket.pause();
  const head = `GET /v1/sessions/${sessionId}/events HTTP/1.1\r\nhost: 127.0.0.1`;
  socket.write(`${head}\r\nauthorization: Bearer ${target.token}\r\n\r\n`);
  return socket;
}

/** Connects, sends part of a request or nothing, and resets the connection. */
export function connectAndDrop(target: Target, said: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = dial(target);
    socket.on('close', () => resolve());
    socket.on('connect', () => {
      if (said !== '') socket.write(said);
      setImmediate(() => socket.resetAndDestroy());
    });
  });
}

function dial({ url }: Target): Socket {
  const { port, hostname } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: false });
  return socket.on('error', () => undefined);
}
