import type { Server, Socket } from 'node:net';
import type { ScriptAnswer } from '@cobbler/agent/testing';
import { callBlock, expect, expectEqual, joinFrames, replies, scriptResponse } from '@cobbler/agent/testing';
import { selfSigned } from '../setup/certificate.ts';
import { expectResponse } from '../setup/compare.ts';
import type { RawParts } from '../setup/raw-responses.ts';
import { encodeChunks, fineResponse, lastChunk, onSocket, rawParts } from '../setup/raw-responses.ts';
import { contractKey, errorOf, promptly, responseOf, soon, withSetup } from '../setup/setup.ts';
import type { SocketResponse } from '../setup/socket-server.ts';
import { serveSocket } from '../setup/socket-server.ts';
import type { CaseDefinition, ContractSubject } from '../setup/subject.ts';
import { group, socketGroup } from '../setup/subject.ts';

const the = socketGroup('network');
const served = group('network');

const answer: ScriptAnswer = scriptResponse(['Words: 漢字.', callBlock('call_1', 'put', { value: 'x' })]);

/**
 * A proxy or network between user and service responds instead of the service. The service responds to the
 * next attempt.
 */
function inBetween(what: string, bytes: (parts: RawParts) => SocketResponse, kind: string): CaseDefinition {
  return the(`${what} is not a valid response, and the request is retried [P1]`, async (subject) => {
    const good = fineResponse(answer, subject.testing);
    const odd = bytes(rawParts(answer, subject.testing));
    await onSocket(
      subject,
      [odd, good],
      async ({ ask, socket }) => {
        const outcome = await ask();
        expectResponse(responseOf(outcome), answer, subject.testing);
        expectEqual([outcome.response?.attempts, socket.requests.length], [2, 2], 'attempts and requests');
        const retry = outcome.events.find((event) => event.type === 'retry');
        expectEqual(retry?.error.kind, kind, 'the kind of the first error');
      },
      { retry: { retries: 1 } },
    );
  });
}

/** A proxy or network always responds instead of the service. The error must explain it, without retries. */
function portal(what: string, bytes: string | Uint8Array, head: string, words: string): CaseDefinition {
  return the(`${what} is reported immediately with a clear message [P1]`, async (subject) => {
    await onSocket(
      subject,
      [{ bytes: [`${head}content-length: ${bytes.length}\r\n\r\n`, bytes] }],
      async ({ ask, socket }) => {
        const error = errorOf(await ask());
        expect(!error.retryable, 'an error that is not retryable');
        expectEqual([error.attempts, socket.requests.length], [1, 1], 'attempts and requests');
        expect(error.message.includes(words), `a message that contains "${words}", found ${error.message}`);
        expect(error.message.length < 600, 'a message shorter than 600 characters');
      },
      { retry: { retries: 3 } },
    );
  });
}

const login = '<html><body>Sign in to the hotel network</body></html>';

/** An unusual but correct response of a proxy or an old server. */
function sameResponse(what: string, bytes: (parts: RawParts) => SocketResponse): CaseDefinition {
  return the(what, (subject) =>
    onSocket(subject, [bytes(rawParts(answer, subject.testing))], async ({ ask }) =>
      expectResponse(responseOf(await ask()), answer, subject.testing),
    ),
  );
}

/** Runs a server on its own port. Closing it breaks its connections. */
async function onServer(server: Server, act: (port: number) => Promise<void>): Promise<void> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  try {
    await act(typeof address === 'object' && address !== null ? address.port : 0);
  } finally {
    for (const socket of sockets) socket.destroy();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  }
}

/** Serves TLS with an untrusted certificate. `receivedBytes` counts the bytes received after the handshake. */
async function onUntrusted(
  act: (link: { readonly url: string; readonly receivedBytes: () => number }) => Promise<void>,
): Promise<void> {
  const { createServer } = await import('node:tls');
  let receivedBytes = 0;
  const server = createServer(await selfSigned('127.0.0.1'), (socket) => {
    socket.on('error', () => {});
    socket.on('data', ({ length }) => {
      receivedBytes += length;
    });
  });
  server.on('tlsClientError', () => {});
  await onServer(server, (port) =>
    act({ url: `https://127.0.0.1:${port}/v1`, receivedBytes: () => receivedBytes }),
  );
}

interface SilentServer {
  readonly url: string;
  /** Resolves when the first bytes arrive. */
  readonly met: Promise<void>;
  /** Resolves when the first connection has gone. */
  readonly left: Promise<void>;
}

/** A port that accepts connections and never responds. */
async function onMute(act: (mute: SilentServer) => Promise<void>): Promise<void> {
  const { createServer } = await import('node:net');
  const met = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const server = createServer((socket) => {
    socket.on('data', () => met.resolve());
    socket.on('close', () => left.resolve());
  });
  await onServer(server, (port) =>
    act({ url: `https://127.0.0.1:${port}/v1`, met: met.promise, left: left.promise }),
  );
}

const tlsCases: readonly CaseDefinition[] = [
  the('an untrusted certificate is rejected immediately, and the key is not sent [P19]', (subject) =>
    onUntrusted(({ url, receivedBytes }) =>
      withSetup(subject, [], async (setup) => {
        const error = errorOf(await setup.ask({}, { agent: setup.agent({ baseURL: url }) }));
        expectEqual(
          [error.kind, error.retryable, error.attempts],
          ['network', false, 1],
          'kind, retryable, attempts',
        );
        expect(/certificate/.test(error.message), `a message about the certificate, found ${error.message}`);
        expect(error.message.includes(new URL(url).host), 'the host in the message');
        expectEqual(receivedBytes(), 0, 'the bytes sent to the server');
      }),
    ),
  ),
  the('the headers timeout ends a request whose TLS handshake hangs [P2]', (subject) =>
    onMute(({ url, met, left }) =>
      withSetup(subject, [], async (setup) => {
        const agent = setup.agent({ baseURL: url, timeouts: { headersMs: 5000 }, retry: { retries: 0 } });
        const asked = setup.ask({}, { agent });
        await met;
        await setup.runtime.advance(5100);
        expectEqual(
          errorOf(await promptly(asked, 1000, 'the request')).kind,
          'timeout',
          'the kind of the error',
        );
        await promptly(left, 1000, 'the connection');
      }),
    ),
  ),
  the('a run can be cancelled during a TLS handshake [P3]', (subject) =>
    onMute(({ url, met, left }) =>
      withSetup(subject, [], async (setup) => {
        const stop = new AbortController();
        const asked = setup.ask({}, { agent: setup.agent({ baseURL: url }), signal: stop.signal });
        await met;
        stop.abort();
        expectEqual(errorOf(await promptly(asked, 250, 'the run')).kind, 'aborted', 'the kind of the error');
        await promptly(left, 1000, 'the connection');
      }),
    ),
  ),
];

/** Serves on the IPv6 loopback address if this machine has one. */
async function onVersion6(subject: ContractSubject): Promise<void> {
  const six = await serveSocket([fineResponse(answer, subject.testing)], '::1').catch(() => undefined);
  if (six === undefined) return;
  try {
    await withSetup(subject, [], async (setup) => {
      const agent = setup.agent({ baseURL: `${six.url}/v1` });
      const outcome = await setup.ask({}, { agent });
      expectResponse(responseOf(outcome), answer, subject.testing);
      expectEqual(outcome.response?.attempts, 1, 'the attempts');
    });
  } finally {
    await six.close();
  }
}

const nameCases: readonly CaseDefinition[] = [
  the(
    'a host name that cannot be resolved is a network error with the name, after four attempts [P5]',
    async (subject) => {
      // Too long for a DNS query, so no name server is contacted.
      const name = `${'n'.repeat(64)}.example`;
      await withSetup(subject, [], async (setup) => {
        const error = errorOf(await setup.ask({}, { agent: setup.agent({ baseURL: `http://${name}/v1` }) }));
        expectEqual([error.kind, error.attempts], ['network', 4], 'kind and attempts');
        expect(error.message.includes(name), `the host name in the message, found ${error.message}`);
      });
    },
  ),
  the('a service at an IPv6 address is reached', onVersion6),
];

/** A response that a service sends on an idle connection, without a request. */
const goodbye = 'HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n';

export const networkCases: readonly CaseDefinition[] = [
  portal(
    'a sign-in page of a network',
    login,
    'HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\n',
    'Sign in to the hotel',
  ),
  portal(
    'a redirect to a sign-in page of a network',
    '',
    'HTTP/1.1 302 Found\r\nlocation: http://login.hotel.example/?from=api\r\n',
    'login.hotel.example',
  ),
  portal(
    'a response from a server that does not stream',
    '{"id":"x","object":"chat.completion","choices":[{"message":{"role":"assistant","content":"Hi."}}]}',
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n',
    'application/json',
  ),
  portal(
    'a proxy that requires a password',
    'Proxy Authentication Required',
    'HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic\r\ncontent-type: text/plain\r\n',
    '407',
  ),
  inBetween(
    'a bad gateway status with a compressed page',
    () => ({
      bytes: [
        'HTTP/1.1 502 Bad Gateway\r\ncontent-type: text/html\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\n',
        Uint8Array.from([0x1f, 0x8b, 0x08]),
      ],
    }),
    'agent',
  ),
  inBetween(
    'a network that reports a required sign-in with its status',
    () => ({
      bytes: [
        `HTTP/1.1 511 Network Authentication Required\r\ncontent-type: text/html\r\ncontent-length: ${login.length}\r\n\r\n${login}`,
      ],
    }),
    'agent',
  ),
  inBetween(
    'a switch to another protocol',
    () => ({ bytes: ['HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade\r\n\r\n'] }),
    'network',
  ),
  inBetween(
    'a response with folded header lines',
    ({ head, body, length }) => ({
      bytes: [joinFrames([`${head}\r\nx-odd: a\r\n b\r\ncontent-length: ${length}\r\n\r\n`, body])],
      ending: 'end',
    }),
    'network',
  ),
  inBetween(
    'a body with both a declared length and chunks',
    ({ head, body, length }) => ({
      bytes: [
        joinFrames([
          `${head}\r\ntransfer-encoding: chunked\r\ncontent-length: ${length}\r\n\r\n`,
          encodeChunks([body]),
          lastChunk,
        ]),
      ],
      ending: 'end',
    }),
    'network',
  ),
  inBetween(
    'a negative content length',
    ({ head, body }) => ({
      bytes: [joinFrames([`${head}\r\ncontent-length: -5\r\n\r\n`, body])],
      ending: 'end',
    }),
    'network',
  ),
  inBetween(
    'a body with an unrequested transfer coding',
    ({ head }) => ({
      bytes: [`${head}\r\ntransfer-encoding: gzip, chunked\r\n\r\n3\r\n\u001f\u000b\u0008\r\n${lastChunk}`],
      ending: 'end',
    }),
    'network',
  ),
  sameResponse('a response that offers a protocol upgrade is valid', ({ head, body, length }) => ({
    bytes: [
      joinFrames([
        `${head}\r\nupgrade: h2,h2c\r\nconnection: upgrade\r\ncontent-length: ${length}\r\n\r\n`,
        body,
      ]),
    ],
  })),
  sameResponse('a content type that a proxy repeats changes nothing', ({ head, body, length }) => ({
    bytes: [
      joinFrames([`${head}\r\n${head.split('\r\n').at(-1)}\r\ncontent-length: ${length}\r\n\r\n`, body]),
    ],
  })),
  sameResponse('an incomplete chunk after the end of the response does no harm', ({ head, body }) => ({
    bytes: [joinFrames([`${head}\r\ntransfer-encoding: chunked\r\n\r\nfffffff\r\n`, body])],
    ending: 'end',
  })),
  sameResponse('five thousand interim responses are ignored', ({ head, body, length }) => ({
    bytes: [
      'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(5000),
      joinFrames([`${head}\r\ncontent-length: ${length}\r\n\r\n`, body]),
    ],
  })),
  the('a repeated retry hint is followed once', async (subject) => {
    for (const name of ['retry-after', 'retry-after-ms']) {
      const hint = name === 'retry-after' ? '2' : '2000';
      const busy = `HTTP/1.1 429 Busy\r\n${name}: ${hint}\r\n${name}: ${hint}\r\ncontent-length: 0\r\n\r\n`;
      await onSocket(
        subject,
        [{ bytes: [busy] }, fineResponse(answer, subject.testing)],
        async ({ ask }) => {
          const outcome = await ask();
          responseOf(outcome);
          const retry = outcome.events.find((event) => event.type === 'retry');
          // Two values of a header that HTTP allows once may also be ignored.
          expect(
            retry !== undefined && retry.delayMs >= 250 && retry.delayMs <= 2500,
            `a delay of at most 2.5 s, found ${retry?.delayMs} ms`,
          );
        },
        { retry: { retries: 1 } },
      );
    }
  }),
  the('a timeout response on an idle kept-alive connection costs no attempt [P5]', async (subject) => {
    const good = fineResponse(answer, subject.testing);
    await onSocket(
      subject,
      [{ bytes: [...good.bytes, goodbye], ending: 'end' }, { bytes: [...good.bytes, goodbye] }, good],
      async ({ ask }) => {
        for (let asked = 0; asked < 3; asked += 1) {
          expectEqual(responseOf(await ask()).attempts, 1, `the attempts of request ${asked + 1}`);
          if (asked < 1) await soon(20);
        }
      },
    );
  }),
  served('a proxy password in the address is sent nowhere else [P19]', async (subject) => {
    await withSetup(subject, [replies(answer)], async (setup) => {
      const baseURL = setup.baseURL.replace('//', '//someone:pa55-w0rd@');
      responseOf(await setup.ask({}, { agent: setup.agent({ baseURL }) }));
      const { url, text, headers } = await setup.server.arrival(0);
      expect(!url.includes('pa55-w0rd') && !text.includes('pa55-w0rd'), 'no password in URL or body');
      const keyed = [...headers].filter(([, value]) => value.includes(contractKey));
      expectEqual(keyed.length, subject.testing.request.key ? 1 : 0, 'the number of headers with the key');
    });
  }),
  ...tlsCases,
  ...nameCases,
];
