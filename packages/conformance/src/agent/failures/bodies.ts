import type { MockReply, ScriptAnswer } from '@cobbler/agent/testing';
import {
  callBlock,
  expect,
  expectEqual,
  expectOneOf,
  framesOf,
  joinFrames,
  replies,
  scriptResponse,
} from '@cobbler/agent/testing';
import { expectResponse } from '../setup/compare.ts';
import { heldBytes } from '../setup/memory.ts';
import { onSocket } from '../setup/raw-responses.ts';
import { continueConversation, user } from '../setup/request-parts.ts';
import { askOnce, errorOf, repliesTo, responseOf, withSetup } from '../setup/setup.ts';
import type { CaseDefinition } from '../setup/subject.ts';
import { group, socketGroup } from '../setup/subject.ts';

const the = group('bodies');
const onWire = socketGroup('bodies');
const ids = group('ids');

const mebibyte = 1024 * 1024;

const answer: ScriptAnswer = scriptResponse(['Words of an answer.']);

/** Unusual bodies of error responses. Only the status decides the kind. */
const oddBodies: readonly (readonly [what: string, body: string | readonly Uint8Array[]])[] = [
  ['empty', ''],
  ['whitespace', ' \r\n\t '],
  ['a single brace', '{'],
  ['a truncated error', '{"error": {"type": "x", "mess'],
  ['deeply nested objects', `${'{"error":'.repeat(20_000)}1${'}'.repeat(20_000)}`],
  ['deeply nested lists', '['.repeat(16_000)],
  ['a number', '1e999'],
  ['an error with null fields', '{"error": null, "message": null, "type": null}'],
  ['an error with lists as fields', '{"error": [[]], "message": [1], "type": {}}'],
  [
    'an error with names that objects inherit',
    '{"error": {"type": "constructor", "code": "__proto__", "message": "toString"}}',
  ],
  [
    'an error that sets a prototype',
    '{"__proto__": {"polluted": true}, "error": {"__proto__": {"message": "x"}}}',
  ],
  [
    'a message with lone surrogates and wide characters',
    '{"error": {"message": "\\ud800 \\u0000 漢字 🧵"}, "message": "\\ud800 \\u0000 漢字 🧵"}',
  ],
  ['an event stream', 'event: error\ndata: {"type":"error"}\n\n'],
  ['a web page', '<!doctype html><html><head><title>502</title></head></html>'],
  ['XML', '<?xml version="1.0"?><Error><Code>Slow</Code></Error>'],
  ['bytes that are not text', [Uint8Array.from({ length: 300 }, (_, index) => 255 - (index % 128))]],
  ['NUL bytes', [new Uint8Array(2000)]],
];

/** Sends every unusual body with one status to one fixture. */
function oddly(status: number, kind: string, types: readonly string[]): CaseDefinition {
  return the(`status ${status} is ${kind} with any body [P12]`, async (subject) => {
    const combinations = types.flatMap((type) => oddBodies.map((odd) => [type, ...odd] as const));
    const script = combinations.flatMap(([type, , body]) =>
      repliesTo(subject, { type: 'raw', status, headers: { 'content-type': type }, body }),
    );
    await withSetup(
      subject,
      script,
      async (setup) => {
        for (const [type, what] of combinations) {
          const error = errorOf(await setup.ask());
          expectEqual([error.kind, error.status], [kind, status], `kind and status for ${what} as ${type}`);
          expect(error.message.trim() !== '', `a message for ${what}`);
          expect(error.message.length <= 4096, `a short message for ${what}`);
          expect(error.message.isWellFormed(), `no lone surrogates in the message for ${what}`);
        }
        const plain: Record<string, unknown> = {};
        expect(plain['polluted'] === undefined, 'an unchanged prototype');
      },
      { retry: { retries: 0 } },
    );
  });
}

/** Eight mebibytes of blank text, in chunks. */
function* muchOfNothing(): Iterable<string> {
  for (let count = 0; count < 16; count += 1) yield ' '.repeat(mebibyte / 2);
}

/** A body with a success status and a missing or uninformative content type. */
function untyped(what: string, headers: string, body: string): CaseDefinition {
  return onWire(`${what} is not a valid response [P1]`, (subject) =>
    onSocket(
      subject,
      [{ bytes: [`HTTP/1.1 200 OK\r\n${headers}content-length: ${body.length}\r\n\r\n${body}`] }],
      async ({ ask }) =>
        expectOneOf(errorOf(await ask()).kind, ['network', 'agent'], 'the kind of the error'),
    ),
  );
}

export const bodyCases: readonly CaseDefinition[] = [
  oddly(400, 'invalid', ['application/json', '']),
  oddly(500, 'agent', ['application/json', 'text/event-stream']),
  oddly(401, 'auth', ['application/json']),
  oddly(429, 'rate_limit', ['application/json']),
  the('an error response cut off in its body keeps kind and status', async (subject) => {
    for (const status of [400, 403, 500, 529]) {
      const headers = { 'content-type': 'application/json' };
      const broken: MockReply = {
        type: 'raw',
        status,
        headers,
        body: '{"error": {"message": "Half',
        ending: 'reset',
      };
      const script = repliesTo(subject, broken);
      const { outcome } = await askOnce(subject, script, {}, { retry: { retries: 0 } });
      expectEqual(errorOf(outcome).status, status, 'the status');
      expect(errorOf(outcome).kind !== 'network', 'a retryable error');
    }
  }),
  the('a large error body uses almost no memory [P18]', async (subject) => {
    const reply: MockReply = {
      type: 'raw',
      status: 400,
      headers: { 'content-type': 'text/html' },
      body: muchOfNothing(),
    };
    const before = await heldBytes();
    const { outcome } = await askOnce(subject, [reply]);
    expectEqual([errorOf(outcome).kind, errorOf(outcome).status], ['invalid', 400], 'kind and status');
    const held = (await heldBytes()) - before;
    expect(held < 4 * mebibyte, `less than 4 MiB in use, found ${Math.round(held / mebibyte)} MiB`);
  }),
  the('a large web page with a success status is abandoned early [P18]', async (subject) => {
    let taken = 0;
    function* body(): Iterable<string> {
      for (const chunk of muchOfNothing()) {
        taken += chunk.length;
        yield chunk;
      }
    }
    const reply: MockReply = {
      type: 'raw',
      status: 200,
      headers: { 'content-type': 'text/html' },
      body: body(),
    };
    const { outcome } = await askOnce(subject, [reply], {}, { retry: { retries: 0 } });
    expectEqual(errorOf(outcome).kind, 'agent', 'the kind of the error');
    expect(taken < 8 * mebibyte, `less than the whole page to be read, found ${taken} bytes`);
  }),
  untyped('a web page without a content type', '', '<html><body>Sign in to the network</body></html>'),
  untyped('plain text without a content type', '', 'ok'),
  untyped('JSON without a content type', '', '{"ok":true}'),
  untyped('an empty body without a content type', '', ''),
  untyped('an empty body of type JSON', 'content-type: application/json\r\n', ''),
  untyped('a body of an unknown type', 'content-type: application/octet-stream\r\n', 'data: {}\n\n'),
  untyped('an invalid content type', 'content-type: ;;;\r\n', '<html></html>'),
  the('a response in another framing is not valid [P1]', async (subject) => {
    const { testing } = subject;
    const isEventStream = testing.contentType.startsWith('text/event-stream');
    const headers = { 'content-type': isEventStream ? 'application/x-ndjson' : 'text/event-stream' };
    const { outcome } = await askOnce(subject, [replies(answer, { headers })], {}, { retry: { retries: 0 } });
    expectOneOf(errorOf(outcome).kind, ['agent', 'network'], 'the kind of the error');
  }),
  onWire('a response without a content type is parsed normally', (subject) => {
    const body = joinFrames(framesOf(replies(answer), subject.testing));
    return onSocket(
      subject,
      [{ bytes: [joinFrames([`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`, body])] }],
      async ({ ask }) => expectEqual(responseOf(await ask()).content, 'Words of an answer.', 'the text'),
    );
  }),
  ids('two identical responses are both kept in the history', async (subject) => {
    const same = replies(answer);
    await withSetup(subject, [same, same, replies(scriptResponse(['Done.']))], async (setup) => {
      const first = responseOf(await setup.ask({ messages: [user('Go.')] }));
      const once = continueConversation([user('Go.')], first.message);
      const second = responseOf(await setup.ask({ messages: once }));
      expectEqual(second.message, first.message, 'the second response');
      responseOf(await setup.ask({ messages: continueConversation(once, second.message) }));
      const sentBack = setup
        .request(2)
        .turns.flatMap(({ side, parts }) => (side === 'assistant' ? parts : []));
      expectEqual(sentBack.length, 2, 'the responses sent back');
    });
  }),
  ids('ids that differ only in unsupported characters stay different', async (subject) => {
    const long = 'i'.repeat(64);
    const given = [
      'a.b',
      'a_b',
      'a b',
      'a_b_2',
      `${long}1`,
      `${long}2`,
      long,
      'constructor',
      '__proto__',
      'call',
      'call_2',
    ];
    const calls = scriptResponse(given.map((id, index) => callBlock(id, 'put', { value: index })));
    await withSetup(subject, [replies(calls), replies(answer)], async (setup) => {
      const response = responseOf(await setup.ask({ messages: [user('Go.')] }));
      expectResponse(response, calls, subject.testing);
      responseOf(await setup.ask({ messages: continueConversation([user('Go.')], response.message) }));
      const parts = setup.request(1).turns.flatMap((turn) => turn.parts);
      const called = parts.flatMap((part) => (part.type === 'call' ? [part.id] : []));
      const results = parts.flatMap((part) => (part.type === 'result' ? [part.id] : []));
      expectEqual(new Set(called).size, given.length, 'the number of different ids');
      expectEqual(results, called, 'the ids of the results');
    });
  }),
];
