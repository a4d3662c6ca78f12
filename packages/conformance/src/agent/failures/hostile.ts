import type { Frame, MockReply, ScriptAnswer } from '@cobbler/agent/testing';
import {
  expect,
  expectEqual,
  expectOneOf,
  framesOf,
  joinFrames,
  replies,
  responseSteps,
  scriptResponse,
  stepFrames,
} from '@cobbler/agent/testing';
import { expectResponse } from '../setup/compare.ts';
import { isBinary } from '../setup/frame-text.ts';
import { askOnce, contractKey, errorOf, promptly, repliesTo, responseOf, withSetup } from '../setup/setup.ts';
import type { CaseDefinition } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';

const the = group('hostile');

const answer: ScriptAnswer = scriptResponse(['Words of an answer.']);

/** A body that is not a model response, with a success status. */
function notAResponse(what: string, contentType: string, body: string): CaseDefinition {
  return the(`${what} is not a valid response [P1]`, async (subject) => {
    const reply: MockReply = { type: 'raw', status: 200, headers: { 'content-type': contentType }, body };
    const { outcome } = await askOnce(subject, [reply], {}, { retry: { retries: 0 } });
    expectEqual([errorOf(outcome).kind, errorOf(outcome).status], ['agent', 200], 'kind and status');
    expect(
      errorOf(outcome).message.includes(contentType),
      `the content type in the message, found ${errorOf(outcome).message}`,
    );
  });
}

/** The media type of a response in another spelling. */
function typedAs(what: string, spell: (type: string) => string): CaseDefinition {
  return the(`a content type ${what} is accepted`, async (subject) => {
    const headers = { 'content-type': spell(subject.testing.contentType) };
    const { outcome } = await askOnce(subject, replies(answer, { headers }));
    expectResponse(responseOf(outcome), answer, subject.testing);
  });
}

/** Text of 128 MiB that counts how much of it was read. */
function flood(begin: Frame, chunk: string): { readonly body: Iterable<Frame>; bytesRead(): number } {
  let taken = 0;
  function* body(): Iterable<Frame> {
    yield begin;
    while (taken < 128 * 1024 * 1024) {
      taken += chunk.length;
      yield chunk;
    }
  }
  return { body: body(), bytesRead: () => taken };
}

export const hostileCases: readonly CaseDefinition[] = [
  notAResponse('a web page', 'text/html', '<!doctype html><title>Log in</title>'),
  notAResponse('plain JSON', 'application/json', '{"text":"Hello."}'),
  notAResponse('plain text', 'text/plain', 'data: {}\n\n'),
  typedAs('with a parameter', (type) => `${type}; charset=utf-8`),
  typedAs('in capitals', (type) => type.toUpperCase()),
  the('a success status without a body is an error [P1]', async (subject) => {
    const { outcome } = await askOnce(subject, [{ type: 'raw', status: 202 }], {}, { retry: { retries: 0 } });
    expectOneOf(errorOf(outcome).kind, ['network', 'agent'], 'the kind of the error');
  }),
  the('an error without a body contains at least its status', async (subject) => {
    const { outcome } = await askOnce(subject, [{ type: 'raw', status: 418 }]);
    expectEqual([errorOf(outcome).kind, errorOf(outcome).status], ['invalid', 418], 'kind and status');
    expect(errorOf(outcome).message.length > 10, 'an error with a message');
  }),
  the('an error with a body of malformed JSON keeps its kind', async (subject) => {
    const reply: MockReply = {
      type: 'raw',
      status: 403,
      headers: { 'content-type': 'application/json' },
      body: '{"error": {"mess',
    };
    const { outcome } = await askOnce(subject, repliesTo(subject, reply));
    expectEqual([errorOf(outcome).kind, errorOf(outcome).status], ['auth', 403], 'kind and status');
  }),
  the('an error with JSON in an unknown format keeps its kind', async (subject) => {
    for (const body of [
      'null',
      '[]',
      '"no"',
      '{"error":null}',
      '{"error":{"message":5,"type":[]}}',
      '{"message":{}}',
    ]) {
      const reply: MockReply = {
        type: 'raw',
        status: 404,
        headers: { 'content-type': 'application/json' },
        body,
      };
      const { outcome } = await askOnce(subject, [reply]);
      expectEqual(
        [errorOf(outcome).kind, errorOf(outcome).status],
        ['invalid', 404],
        `kind and status for ${body}`,
      );
      expect(errorOf(outcome).message.trim() !== '', 'an error with a message');
    }
  }),
  the('only a limited part of an endless error body is read [P18]', async (subject) => {
    const much = flood('begin ', 'error '.repeat(4000));
    await withSetup(
      subject,
      [{ type: 'raw', status: 400, headers: { 'content-type': 'text/plain' }, body: much.body }],
      async (setup) => {
        const outcome = await setup.ask();
        expectEqual(errorOf(outcome).kind, 'invalid', 'the kind of the error');
        expect(
          errorOf(outcome).message.length <= 4096,
          `a short message, found ${errorOf(outcome).message.length} characters`,
        );
        const exchange = await setup.server.arrival(0);
        await promptly(exchange.left, 1000, 'the connection');
        // The socket buffers may have accepted more than was read.
        expect(
          much.bytesRead() < 16 * 1024 * 1024,
          `less than 16 MiB to be accepted, found ${much.bytesRead()}`,
        );
      },
    );
  }),
  the('an endless frame is abandoned before it exhausts memory [P18]', async (subject) => {
    const { testing } = subject;
    // A binary frame announces its length, which is too large here.
    const text = isBinary(testing) ? 'x'.repeat(17 * 1024 * 1024) : 'begin of something';
    const frame = stepFrames([{ type: 'delta', at: 0, text }], replies(answer), testing);
    const begin = isBinary(testing) ? 1024 : new TextDecoder('latin1').decode(frame).indexOf('something');
    const head = framesOf(replies(answer, { steps: responseSteps(answer).slice(0, 1) }), testing);
    const much = flood(joinFrames([...head, frame.subarray(0, begin)]), 'x'.repeat(512 * 1024));
    const reply: MockReply = {
      type: 'raw',
      status: 200,
      headers: { 'content-type': testing.contentType },
      body: much.body,
    };
    const { outcome } = await askOnce(subject, [reply], {}, { retry: { retries: 0 } });
    expectOneOf(errorOf(outcome).kind, ['network', 'limit'], 'the kind of the error');
    const mebibytes = isBinary(testing) ? 16 : 64;
    expect(
      much.bytesRead() < mebibytes * 1024 * 1024,
      `less than ${mebibytes} MiB to be accepted, found ${much.bytesRead()}`,
    );
  }),
  the('data after the end is an error or not part of the response [P1]', async (subject) => {
    const more = scriptResponse(['Something else.']);
    const { testing } = subject;
    const edit = (payloads: readonly unknown[]) => [
      ...payloads,
      ...responseSteps(more).flatMap((step) => testing.line(step, more)),
    ];
    const { outcome } = await askOnce(subject, replies(answer, { edit }), {}, { retry: { retries: 0 } });
    if (outcome.response === undefined)
      expectEqual(errorOf(outcome).kind, 'network', 'the kind of the error');
    else expectResponse(outcome.response, answer, testing);
  }),
  the('a redirect within the origin is not followed either [P6]', async (subject) => {
    const reply: MockReply = { type: 'raw', status: 308, headers: { location: '/elsewhere' } };
    const { outcome, exchanges } = await askOnce(subject, [reply, replies(answer)]);
    expectEqual(errorOf(outcome).kind, 'invalid', 'the kind of the error');
    expectEqual(exchanges.length, 1, 'the number of requests');
  }),
  the('the key is sent only to the service, in one header [P19]', async (subject) => {
    const { outcome, exchanges } = await askOnce(subject, replies(answer));
    responseOf(outcome);
    const holders = [...(exchanges[0]?.headers ?? [])].filter(([, value]) => value.includes(contractKey));
    expectEqual(holders.length, subject.testing.request.key ? 1 : 0, 'the number of headers with the key');
  }),
];
