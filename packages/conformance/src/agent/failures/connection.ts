import { userMessage } from '@cobbler/agent';
import type { ScriptAnswer } from '@cobbler/agent/testing';
import {
  callBlock,
  expect,
  expectEqual,
  expectOneOf,
  joinFrames,
  replies,
  scriptResponse,
} from '@cobbler/agent/testing';
import { expectResponse } from '../setup/compare.ts';
import type { RawParts } from '../setup/raw-responses.ts';
import { encodeChunks, fineResponse, lastChunk, onSocket, rawParts } from '../setup/raw-responses.ts';
import type { Outcome } from '../setup/setup.ts';
import { errorOf, responseOf, withSetup } from '../setup/setup.ts';
import type { SocketResponse } from '../setup/socket-server.ts';
import type { CaseDefinition, ContractSubject } from '../setup/subject.ts';
import { socketGroup } from '../setup/subject.ts';

const the = socketGroup('connection');

const answer: ScriptAnswer = scriptResponse(['Words: 漢字.', callBlock('call_1', 'put', { value: 'x' })]);

type Bytes = (
  parts: RawParts,
) => Omit<SocketResponse, 'bytes'> & { readonly bytes: Iterable<string | Uint8Array> };

/** An unusual but correct response. */
function sameResponse(what: string, bytes: Bytes, protocol?: string): CaseDefinition {
  return the(what, (subject) =>
    onSocket(subject, [bytes(rawParts(answer, subject.testing, protocol))], async ({ ask }) =>
      expectResponse(responseOf(await ask()), answer, subject.testing),
    ),
  );
}

/** A broken response that partly looks valid. It is a network error and retried. */
function brokenResponse(what: string, bytes: Bytes): CaseDefinition {
  return the(`${what} is not a valid response [P1]`, async (subject) => {
    const good = fineResponse(answer, subject.testing);
    await onSocket(
      subject,
      [bytes(rawParts(answer, subject.testing)), good],
      async ({ ask, socket }) => {
        const outcome = await ask();
        expectResponse(responseOf(outcome), answer, subject.testing);
        expectEqual([outcome.response?.attempts, socket.requests.length], [2, 2], 'attempts and requests');
        const retry = outcome.events.find((event) => event.type === 'retry');
        expectEqual(retry?.error.kind, 'network', 'the kind of the first error');
      },
      { retry: { retries: 1 } },
    );
  });
}

/** Bytes that are not HTTP. */
function noHttp(what: string, bytes: string): CaseDefinition {
  return the(`${what} is a network error that names the host`, (subject) =>
    onSocket(subject, [{ bytes: [bytes], ending: 'end' }], async ({ ask, socket }) => {
      const error = errorOf(await ask());
      expectEqual(error.kind, 'network', 'the kind of the error');
      expect(
        error.message.includes(new URL(socket.url).host),
        `the host in the message, found ${error.message}`,
      );
      expect(error.message.length < 500, 'a message shorter than 500 characters');
    }),
  );
}

/** Fails unless the response is complete or the error has a known kind. */
function expectWholeOrFailure(outcome: Outcome, subject: ContractSubject): void {
  if (outcome.response !== undefined) expectResponse(outcome.response, answer, subject.testing);
  else expectOneOf(errorOf(outcome).kind, ['network', 'agent'], 'the kind of the error');
}

function* oneByOne(bytes: Uint8Array): Iterable<Uint8Array> {
  for (const byte of bytes) yield Uint8Array.from([byte]);
}

/** Returns a response of the first two frames, followed by other bytes. */
function chunked(head: string, frames: readonly Uint8Array[], rest: string): Uint8Array {
  const start = `${head}\r\ntransfer-encoding: chunked\r\n\r\n`;
  return joinFrames([start, encodeChunks(frames.slice(0, 2)), rest]);
}

/** A request too large for the socket buffers. */
const large = [userMessage('x'.repeat(6 * 1024 * 1024))];

export const connectionCases: readonly CaseDefinition[] = [
  sameResponse('a response of known length is valid', ({ head, body, length }) => ({
    bytes: [`${head}\r\nContent-Length: ${length}\r\n\r\n`, body],
  })),
  sameResponse('a response that ends with its connection is valid', ({ head, body }) => ({
    bytes: [joinFrames([`${head}\r\nConnection: close\r\n\r\n`, body])],
    ending: 'end',
  })),
  sameResponse(
    'an HTTP/1.0 response is valid',
    ({ head, body }) => ({ bytes: [joinFrames([`${head}\r\n\r\n`, body])], ending: 'end' }),
    'HTTP/1.0',
  ),
  sameResponse('a response that arrives byte by byte is valid', ({ head, body }) => ({
    bytes: oneByOne(
      joinFrames([`${head}\r\ntransfer-encoding: chunked\r\n\r\n`, encodeChunks([body]), lastChunk]),
    ),
  })),
  sameResponse('a response after interim responses is valid', ({ head, body, length }) => ({
    bytes: [
      'HTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\n\r\n'.repeat(3),
      joinFrames([`${head}\r\ncontent-length: ${length}\r\n\r\n`, body]),
    ],
  })),
  sameResponse('chunks with extensions and trailers are read', ({ head, frames }) => ({
    bytes: [
      `${head}\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n`,
      encodeChunks(frames, ';name=value'),
      '0\r\nx-sum: 7\r\nstatus: 500\r\n\r\n',
    ],
  })),
  sameResponse(
    'header names in any case and values with extra spaces are read',
    ({ head, body, length }) => ({
      bytes: [
        head.replace(/^content-type: /im, 'CONTENT-type:\t '),
        joinFrames([`\r\nConTent-LENGTH:   ${length}  \r\n\r\n`, body]),
      ],
    }),
  ),
  sameResponse('a hundred unknown headers are ignored', ({ head, body, length }) => ({
    bytes: [
      head,
      Array.from({ length: 100 }, (_, index) => `\r\nx-odd-${index}: ${'v'.repeat(50)}`).join(''),
      joinFrames([`\r\ncontent-length: ${length}\r\n\r\n`, body]),
    ],
  })),
  sameResponse('data after the declared length is not read', ({ head, body, length }) => ({
    bytes: [
      joinFrames([
        `${head}\r\nconnection: close\r\ncontent-length: ${length}\r\n\r\n`,
        body,
        'data: {"more": 1}\n\n',
      ]),
    ],
    ending: 'end',
  })),
  sameResponse(
    'a connection that breaks after the end of the response does no harm [P4]',
    ({ head, body }) => ({
      bytes: [joinFrames([`${head}\r\ntransfer-encoding: chunked\r\n\r\n`, encodeChunks([body])])],
      ending: 'end',
    }),
  ),
  sameResponse(
    'a body shorter than declared is complete if the response has ended',
    ({ head, body, length }) => ({
      bytes: [joinFrames([`${head}\r\ncontent-length: ${length + 1000}\r\n\r\n`, body])],
      ending: 'end',
    }),
  ),
  brokenResponse('a body longer than declared', ({ head, body, length }) => ({
    bytes: [
      joinFrames([`${head}\r\nconnection: close\r\ncontent-length: ${Math.floor(length / 3)}\r\n\r\n`, body]),
    ],
    ending: 'end',
  })),
  brokenResponse('incomplete response headers', ({ head }) => ({ bytes: [head], ending: 'end' })),
  brokenResponse('a connection that closes without a response', () => ({ bytes: [], ending: 'end' })),
  brokenResponse('a connection that is reset in the middle of the headers', ({ head }) => ({
    bytes: [head.slice(0, 20)],
    ending: 'reset',
  })),
  brokenResponse('a body with a chunk without a length', ({ head, frames }) => ({
    bytes: [chunked(head, frames, 'zz\r\n')],
  })),
  brokenResponse('a body that ends inside a chunk', ({ head, frames }) => ({
    bytes: [chunked(head, frames, 'ffff\r\nda')],
    ending: 'end',
  })),
  brokenResponse('a chunked body that ends too early', ({ head, frames }) => ({
    bytes: [chunked(head, frames, lastChunk)],
  })),
  brokenResponse('a response that declares two lengths', ({ head, body, length }) => ({
    bytes: [joinFrames([`${head}\r\ncontent-length: 7\r\ncontent-length: ${length}\r\n\r\n`, body])],
    ending: 'end',
  })),
  brokenResponse('a header value with a NUL byte', ({ head, body, length }) => ({
    bytes: [joinFrames([`${head}\r\nx-odd: a\u0000b\r\ncontent-length: ${length}\r\n\r\n`, body])],
    ending: 'end',
  })),
  brokenResponse('response headers of 256 KiB', ({ head, body, length }) => ({
    bytes: [
      joinFrames([`${head}\r\nx-odd: ${'v'.repeat(256 * 1024)}\r\ncontent-length: ${length}\r\n\r\n`, body]),
    ],
    ending: 'end',
  })),
  brokenResponse('an interim response and nothing more', () => ({
    bytes: ['HTTP/1.1 103 Early Hints\r\n\r\n'],
    ending: 'end',
  })),
  noHttp('the greeting of another protocol', '220 mail.example ESMTP ready\r\n'),
  noHttp('a TLS alert', '\u0015\u0003\u0001\u0000\u0002\u0002F'),
  noHttp('an HTTP/2 frame', '\u0000\u0000\u0012\u0004\u0000\u0000\u0000\u0000\u0000'),
  noHttp('a status line without a status', 'HTTP/1.1 OK\r\n\r\n'),
  noHttp('100,000 line breaks', '\r\n'.repeat(100_000)),
  the(
    'an unrequested compression of a response is decoded, or an error that names it [P1]',
    async (subject) => {
      const { gzipSync } = await import('node:zlib');
      const { head, body } = rawParts(answer, subject.testing);
      const packed = gzipSync(body);
      const bytes = [`${head}\r\ncontent-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n`, packed];
      await onSocket(subject, [{ bytes }], async ({ ask }) => {
        const outcome = await ask();
        expectWholeOrFailure(outcome, subject);
        if (outcome.error) expect(outcome.error.message.includes('gzip'), 'the encoding in the message');
      });
    },
  ),
  the('an unrequested compression of an error keeps kind and status', async (subject) => {
    const { gzipSync } = await import('node:zlib');
    const packed = gzipSync('{"error":{"message":"No."}}');
    const head = 'HTTP/1.1 422 No\r\ncontent-type: application/json\r\ncontent-encoding: gzip';
    const bytes = [`${head}\r\ncontent-length: ${packed.length}\r\n\r\n`, packed];
    await onSocket(subject, [{ bytes }], async ({ ask }) => {
      const { kind, status, message } = errorOf(await ask());
      expectEqual([kind, status], ['invalid', 422], 'kind and status');
      expect(message.length > 10 && !message.includes('\u001f'), `a message, found ${message}`);
    });
  }),
  the('a second response to one request does not affect the next one', async (subject) => {
    const [first, second] = [scriptResponse(['First.']), scriptResponse(['Second.'])];
    const twice = [
      ...fineResponse(first, subject.testing).bytes,
      ...fineResponse(answer, subject.testing).bytes,
    ];
    const good = fineResponse(second, subject.testing);
    await onSocket(
      subject,
      [{ bytes: [joinFrames(twice)] }, good, good],
      async ({ ask, setup }) => {
        expectResponse(responseOf(await ask()), first, subject.testing);
        await setup.untilSettled();
        expectResponse(responseOf(await ask()), second, subject.testing);
      },
      { retry: { retries: 1 } },
    );
  }),
  the('a kept-alive connection that the service closes costs no attempt [P5]', async (subject) => {
    const good = fineResponse(answer, subject.testing);
    await onSocket(
      subject,
      [{ ...good, ending: 'end' }, { ...good, ending: 'reset' }, good],
      async ({ ask, setup }) => {
        for (let asked = 0; asked < 3; asked += 1) {
          expectEqual(responseOf(await ask()).attempts, 1, `the attempts of request ${asked + 1}`);
          await setup.untilSettled();
        }
      },
    );
  }),
  the(
    'a kept-alive connection that breaks during the next request costs one request more [P5]',
    async (subject) => {
      const good = fineResponse(answer, subject.testing);
      await onSocket(subject, [good, { bytes: [], ending: 'reset' }, good], async ({ ask, socket }) => {
        responseOf(await ask());
        expectEqual(responseOf(await ask()).attempts, 1, 'the attempts');
        const [, second, third] = socket.requests.map(({ connection }) => connection);
        expect(third !== undefined && second !== third, 'a new connection');
      });
    },
  ),
  the('an early rejection of a large request is read', async (subject) => {
    const refusal =
      'HTTP/1.1 413 Too Large\r\ncontent-type: text/plain\r\ncontent-length: 11\r\n\r\nMuch bigger';
    await onSocket(subject, [{ bytes: [refusal], early: true }], async ({ setup, socket }) => {
      const agent = setup.agent({ baseURL: socket.url, retry: { retries: 0 } });
      const { kind, status } = errorOf(await setup.ask({ messages: large }, { agent }));
      expectEqual([kind, status], ['invalid', 413], 'kind and status');
    });
  }),
  the('a response sent before a large request is complete is read', async (subject) => {
    const early = { ...fineResponse(answer, subject.testing), early: true };
    await onSocket(subject, [early], async ({ setup, socket }) => {
      const agent = setup.agent({ baseURL: socket.url, retry: { retries: 0 } });
      expectResponse(responseOf(await setup.ask({ messages: large }, { agent })), answer, subject.testing);
    });
  }),
  the('of several addresses of a host name, one that responds is used', (subject) =>
    withSetup(subject, [replies(answer)], async (setup) => {
      const agent = setup.agent({ baseURL: setup.baseURL.replace('127.0.0.1', 'localhost') });
      const outcome = await setup.ask({}, { agent });
      expectResponse(responseOf(outcome), answer, subject.testing);
      expectEqual(outcome.response?.attempts, 1, 'the attempts');
    }),
  ),
  the('a service without TLS that is called over TLS is a network error', (subject) =>
    withSetup(subject, [], async (setup) => {
      const agent = setup.agent({ baseURL: setup.baseURL.replace('http:', 'https:'), retry: { retries: 0 } });
      expectEqual(errorOf(await setup.ask({}, { agent })).kind, 'network', 'the kind of the error');
    }),
  ),
];
