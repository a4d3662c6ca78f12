import { userMessage } from '@cobbler/agent';
import type { ScriptAnswer } from '@cobbler/agent/testing';
import { callBlock, expect, expectEqual, expectOneOf, replies, scriptResponse } from '@cobbler/agent/testing';
import { expectAnswer } from '../setup/compare.ts';
import type { RawParts } from '../setup/raw-responses.ts';
import { chunked, fineAnswer, lastChunk, onSocket, rawParts } from '../setup/raw-responses.ts';
import type { Outcome } from '../setup/setup.ts';
import { answered, failed, onStage } from '../setup/setup.ts';
import type { SocketAnswer } from '../setup/socket-server.ts';
import type { CaseDefinition, ContractSubject } from '../setup/subject.ts';
import { socketGroup } from '../setup/subject.ts';

const the = socketGroup('connection');

const answer: ScriptAnswer = scriptResponse(['Words: 漢字.', callBlock('call_1', 'put', { value: 'x' })]);

type Bytes = (
  parts: RawParts,
) => Omit<SocketAnswer, 'bytes'> & { readonly bytes: Iterable<string | Uint8Array> };

/** An odd way to say a good answer. */
function sameAnswer(what: string, bytes: Bytes, protocol?: string): CaseDefinition {
  return the(what, (subject) =>
    onSocket(subject, [bytes(rawParts(answer, subject.testing, protocol))], async ({ ask }) =>
      expectAnswer(answered(await ask()), answer, subject.testing),
    ),
  );
}

/** What is no answer, though some of it looks like one: a failure of the network, worth another try. */
function brokenAnswer(what: string, bytes: Bytes): CaseDefinition {
  return the(`${what} is no answer [P1]`, async (subject) => {
    const good = fineAnswer(answer, subject.testing);
    await onSocket(
      subject,
      [bytes(rawParts(answer, subject.testing)), good],
      async ({ ask, socket }) => {
        const outcome = await ask();
        expectAnswer(answered(outcome), answer, subject.testing);
        expectEqual([outcome.response?.attempts, socket.requests.length], [2, 2], 'attempts and requests');
        const retry = outcome.events.find((event) => event.type === 'retry');
        expectEqual(retry?.error.kind, 'network', 'the kind of the first error');
      },
      { retry: { retries: 1 } },
    );
  });
}

/** Bytes that are no HTTP at all. */
function noHttp(what: string, bytes: string): CaseDefinition {
  return the(`${what} is a network error that names the host`, (subject) =>
    onSocket(subject, [{ bytes: [bytes], ending: 'end' }], async ({ ask, socket }) => {
      const error = failed(await ask());
      expectEqual(error.kind, 'network', 'the kind of the error');
      expect(
        error.message.includes(new URL(socket.url).host),
        `the host in the message, found ${error.message}`,
      );
      expect(error.message.length < 500, 'a message in few words');
    }),
  );
}

/** Whole or a failure that is understood, never half of an answer. */
function expectWholeOrFailure(outcome: Outcome, subject: ContractSubject): void {
  if (outcome.response !== undefined) expectAnswer(outcome.response, answer, subject.testing);
  else expectOneOf(failed(outcome).kind, ['network', 'agent'], 'the kind of the error');
}

function* oneByOne(text: string): Iterable<Uint8Array> {
  for (const byte of new TextEncoder().encode(text)) yield Uint8Array.from([byte]);
}

/** A request too large for the buffers between here and there. */
const large = [userMessage('x'.repeat(6 * 1024 * 1024))];

export const connectionCases: readonly CaseDefinition[] = [
  sameAnswer('an answer of known length is an answer', ({ head, body, length }) => ({
    bytes: [`${head}\r\nContent-Length: ${length}\r\n\r\n`, body],
  })),
  sameAnswer('an answer that ends with its connection is an answer', ({ head, body }) => ({
    bytes: [`${head}\r\nConnection: close\r\n\r\n${body}`],
    ending: 'end',
  })),
  sameAnswer(
    'an answer of HTTP/1.0 is an answer',
    ({ head, body }) => ({ bytes: [`${head}\r\n\r\n${body}`], ending: 'end' }),
    'HTTP/1.0',
  ),
  sameAnswer('an answer whose head and body come byte by byte is the same', ({ head, body }) => ({
    bytes: oneByOne(`${head}\r\ntransfer-encoding: chunked\r\n\r\n${chunked(body)}${lastChunk}`),
  })),
  sameAnswer('an answer behind interim heads is the same', ({ head, body, length }) => ({
    bytes: [
      'HTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\n\r\n'.repeat(3),
      `${head}\r\ncontent-length: ${length}\r\n\r\n${body}`,
    ],
  })),
  sameAnswer('chunks with extensions and trailers are read', ({ head, frames }) => ({
    bytes: [
      `${head}\r\ntransfer-encoding: chunked\r\ntrailer: x-sum\r\n\r\n`,
      chunked(...frames).replaceAll(/^([0-9a-f]+)\r\n/gm, '$1;name=value\r\n'),
      '0\r\nx-sum: 7\r\nstatus: 500\r\n\r\n',
    ],
  })),
  sameAnswer('header names in any case and values with blanks are read', ({ head, body, length }) => ({
    bytes: [
      head.replace(/^content-type: /im, 'CONTENT-type:\t '),
      `\r\nConTent-LENGTH:   ${length}  \r\n\r\n${body}`,
    ],
  })),
  sameAnswer('a hundred headers nobody knows are passed over', ({ head, body, length }) => ({
    bytes: [
      head,
      Array.from({ length: 100 }, (_, index) => `\r\nx-odd-${index}: ${'v'.repeat(50)}`).join(''),
      `\r\ncontent-length: ${length}\r\n\r\n${body}`,
    ],
  })),
  sameAnswer('what stands behind the declared length is not read', ({ head, body, length }) => ({
    bytes: [`${head}\r\nconnection: close\r\ncontent-length: ${length}\r\n\r\n${body}data: {"more": 1}\n\n`],
    ending: 'end',
  })),
  sameAnswer(
    'a connection that breaks behind the end of the answer spoils nothing [P4]',
    ({ head, body }) => ({
      bytes: [`${head}\r\ntransfer-encoding: chunked\r\n\r\n${chunked(body)}`],
      ending: 'end',
    }),
  ),
  sameAnswer('a body shorter than declared is whole once the answer has ended', ({ head, body, length }) => ({
    bytes: [`${head}\r\ncontent-length: ${length + 1000}\r\n\r\n${body}`],
    ending: 'end',
  })),
  brokenAnswer('a body longer than it was declared', ({ head, body, length }) => ({
    bytes: [`${head}\r\nconnection: close\r\ncontent-length: ${Math.floor(length / 3)}\r\n\r\n${body}`],
    ending: 'end',
  })),
  brokenAnswer('a head without its end', ({ head }) => ({ bytes: [head], ending: 'end' })),
  brokenAnswer('a connection that is closed without a word', () => ({ bytes: [], ending: 'end' })),
  brokenAnswer('a connection that is reset in the middle of the head', ({ head }) => ({
    bytes: [head.slice(0, 20)],
    ending: 'reset',
  })),
  brokenAnswer('a body with a chunk of no length', ({ head, frames }) => ({
    bytes: [`${head}\r\ntransfer-encoding: chunked\r\n\r\n${chunked(...frames.slice(0, 2))}zz\r\n`],
  })),
  brokenAnswer('a body that closes inside a chunk', ({ head, frames }) => ({
    bytes: [`${head}\r\ntransfer-encoding: chunked\r\n\r\n${chunked(...frames.slice(0, 2))}ffff\r\nda`],
    ending: 'end',
  })),
  brokenAnswer('a body whose end comes too early in its coding', ({ head, frames }) => ({
    bytes: [`${head}\r\ntransfer-encoding: chunked\r\n\r\n${chunked(...frames.slice(0, 2))}${lastChunk}`],
  })),
  brokenAnswer('an answer that declares two lengths', ({ head, body, length }) => ({
    bytes: [`${head}\r\ncontent-length: 7\r\ncontent-length: ${length}\r\n\r\n${body}`],
    ending: 'end',
  })),
  brokenAnswer('a head with a NUL in a value', ({ head, body, length }) => ({
    bytes: [`${head}\r\nx-odd: a\u0000b\r\ncontent-length: ${length}\r\n\r\n${body}`],
    ending: 'end',
  })),
  brokenAnswer('a head of 256 KiB', ({ head, body, length }) => ({
    bytes: [`${head}\r\nx-odd: ${'v'.repeat(256 * 1024)}\r\ncontent-length: ${length}\r\n\r\n${body}`],
    ending: 'end',
  })),
  brokenAnswer('an interim head alone', () => ({
    bytes: ['HTTP/1.1 103 Early Hints\r\n\r\n'],
    ending: 'end',
  })),
  noHttp('the greeting of another protocol', '220 mail.example ESMTP ready\r\n'),
  noHttp('an alert of TLS', '\u0015\u0003\u0001\u0000\u0002\u0002F'),
  noHttp('a frame of HTTP/2', '\u0000\u0000\u0012\u0004\u0000\u0000\u0000\u0000\u0000'),
  noHttp('a status line without a status', 'HTTP/1.1 OK\r\n\r\n'),
  noHttp('a hundred thousand line breaks', '\r\n'.repeat(100_000)),
  the(
    'an answer in a compression nobody asked for is whole or an error that names it [P1]',
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
  the('an error in a compression nobody asked for keeps kind and status', async (subject) => {
    const { gzipSync } = await import('node:zlib');
    const packed = gzipSync('{"error":{"message":"No."}}');
    const head = 'HTTP/1.1 422 No\r\ncontent-type: application/json\r\ncontent-encoding: gzip';
    const bytes = [`${head}\r\ncontent-length: ${packed.length}\r\n\r\n`, packed];
    await onSocket(subject, [{ bytes }], async ({ ask }) => {
      const { kind, status, message } = failed(await ask());
      expectEqual([kind, status], ['invalid', 422], 'kind and status');
      expect(message.length > 10 && !message.includes('\u001f'), `words in the message, found ${message}`);
    });
  }),
  the('two answers to one request do not mix with the next one', async (subject) => {
    const [first, second] = [scriptResponse(['First.']), scriptResponse(['Second.'])];
    const twice = [...fineAnswer(first, subject.testing).bytes, ...fineAnswer(answer, subject.testing).bytes];
    const good = fineAnswer(second, subject.testing);
    await onSocket(
      subject,
      [{ bytes: [twice.join('')] }, good, good],
      async ({ ask, stage }) => {
        expectAnswer(answered(await ask()), first, subject.testing);
        await stage.settled();
        expectAnswer(answered(await ask()), second, subject.testing);
      },
      { retry: { retries: 1 } },
    );
  }),
  the('a kept connection that the service closes meanwhile costs no attempt [P5]', async (subject) => {
    const good = fineAnswer(answer, subject.testing);
    await onSocket(
      subject,
      [{ ...good, ending: 'end' }, { ...good, ending: 'reset' }, good],
      async ({ ask, stage }) => {
        for (let asked = 0; asked < 3; asked += 1) {
          expectEqual(answered(await ask()).attempts, 1, `the attempts of request ${asked + 1}`);
          await stage.settled();
        }
      },
    );
  }),
  the('a kept connection that breaks under the next request costs one request more [P5]', async (subject) => {
    const good = fineAnswer(answer, subject.testing);
    await onSocket(subject, [good, { bytes: [], ending: 'reset' }, good], async ({ ask, socket }) => {
      answered(await ask());
      expectEqual(answered(await ask()).attempts, 1, 'the attempts');
      const [, second, third] = socket.requests.map(({ connection }) => connection);
      expect(third !== undefined && second !== third, 'a new connection');
    });
  }),
  the('a service that refuses a large request early is heard', async (subject) => {
    const refusal =
      'HTTP/1.1 413 Too Large\r\ncontent-type: text/plain\r\ncontent-length: 11\r\n\r\nMuch bigger';
    await onSocket(subject, [{ bytes: [refusal], early: true }], async ({ stage, socket }) => {
      const agent = stage.agent({ baseURL: socket.url, retry: { retries: 0 } });
      const { kind, status } = failed(await stage.ask({ messages: large }, { agent }));
      expectEqual([kind, status], ['invalid', 413], 'kind and status');
    });
  }),
  the('a service that answers before it has read a large request is heard', async (subject) => {
    const early = { ...fineAnswer(answer, subject.testing), early: true };
    await onSocket(subject, [early], async ({ stage, socket }) => {
      const agent = stage.agent({ baseURL: socket.url, retry: { retries: 0 } });
      expectAnswer(answered(await stage.ask({ messages: large }, { agent })), answer, subject.testing);
    });
  }),
  the('a name of several addresses is asked at the one that answers', (subject) =>
    onStage(subject, [replies(answer)], async (stage) => {
      const agent = stage.agent({ baseURL: stage.baseURL.replace('127.0.0.1', 'localhost') });
      const outcome = await stage.ask({}, { agent });
      expectAnswer(answered(outcome), answer, subject.testing);
      expectEqual(outcome.response?.attempts, 1, 'the attempts');
    }),
  ),
  the('a plain service asked over TLS is a network error', (subject) =>
    onStage(subject, [], async (stage) => {
      const agent = stage.agent({ baseURL: stage.baseURL.replace('http:', 'https:'), retry: { retries: 0 } });
      expectEqual(failed(await stage.ask({}, { agent })).kind, 'network', 'the kind of the error');
    }),
  ),
];
