import type { ModelResponse, ToolCallPart } from '@cobbler/agent';
import { callsOf } from '@cobbler/agent';
import type { ReadRequest } from '@cobbler/agent/testing';
import { callBlock, expect, expectEqual, replies, scriptResponse } from '@cobbler/agent/testing';
import { expectAnswer } from '../setup/compare.ts';
import { continued, resultsFor, user } from '../setup/request-parts.ts';
import { answered, askOnce, onStage } from '../setup/setup.ts';
import type { CaseDefinition, ContractSubject } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';

const the = group('calls');
const ids = group('ids');

/** Arguments in this raw text must come with a problem, beside a good call that is not affected by it. */
function unusable(name: string, input: () => string): CaseDefinition {
  return the(`refuses only the call with ${name}`, async (subject) => {
    const bad = callBlock('call_bad', 'put', input());
    const good = callBlock('call_good', 'look_up', { word: 'fine' });
    await onStage(
      subject,
      [replies(scriptResponse([bad, good])), replies(scriptResponse(['Sorry.']))],
      async (stage) => {
        const response = answered(await stage.ask({ messages: [user('Go.')] }));
        const [first, second] = response.toolCalls;
        expect(
          typeof first?.problem === 'string' && first.problem !== '',
          'the first call to say its problem',
        );
        expectEqual(
          second,
          { id: 'call_good', toolName: 'look_up', arguments: { word: 'fine' } },
          'the good call',
        );
        const plain: Record<string, unknown> = {};
        expect(plain['polluted'] === undefined, 'no prototype to be changed');
        answered(await stage.ask({ messages: continued([user('Go.')], response.message) }));
        expectEqual(callInputs(stage.request(1)), [{}, { word: 'fine' }], 'the arguments sent back');
      },
    );
  });
}

function callInputs({ turns }: ReadRequest): unknown[] {
  return turns.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'call' ? [part.input] : [])));
}

function nested(depth: number): string {
  return `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
}

/** An answer that was cut, and what may become of the calls in it: nothing that can be run. */
async function expectNoneUsable(subject: ContractSubject, input: string): Promise<void> {
  const answer = scriptResponse(['Wait.', callBlock('call_1', 'put', input)], { stop: 'max_tokens' });
  await onStage(subject, [replies(answer), replies(scriptResponse(['Again.']))], async (stage) => {
    const response = answered(await stage.ask({ messages: [user('Go.')] }));
    expectEqual(response.stopReason, 'max_tokens', 'the stop reason');
    expectEqual(usable(response), [], 'the calls that could be run');
    answered(await stage.ask({ messages: continued([user('Go.')], response.message) }));
  });
}

function usable({ toolCalls }: ModelResponse): unknown[] {
  return toolCalls.filter(({ problem }) => problem === undefined);
}

export const callCases: readonly CaseDefinition[] = [
  the('nested arguments with odd keys arrive as they were meant [S0.7]', async (subject) => {
    const args = {
      'schlüssel "a"': { deep: [[1, 2.5, -3e-7], { '': null }], flag: false },
      constructor: 'x',
      toString: { length: 0 },
      lines: 'a\r\nb\u2028c\u0000',
      漢字: '🧵',
    };
    const answer = scriptResponse([callBlock('call_1', 'put', args)]);
    const { outcome } = await askOnce(subject, replies(answer));
    expectAnswer(answered(outcome), answer, subject.testing);
    expectEqual(answered(outcome).toolCalls[0]?.arguments, args, 'the arguments');
  }),
  the('parallel calls keep their order, names and arguments [S0.7]', async (subject) => {
    const names = ['look_up', 'put', 'look_up', 'put', 'look_up'];
    const answer = scriptResponse(
      names.map((name, index) => callBlock(`call_${index}`, name, { word: `w${index}` })),
    );
    const { outcome } = await askOnce(subject, replies(answer));
    expectAnswer(answered(outcome), answer, subject.testing);
    expectEqual(
      callsOf(answered(outcome).message).map(({ id }) => id),
      answered(outcome).toolCalls.map(({ id }) => id),
      'the ids in the message',
    );
  }),
  the('a call without arguments has none [S0.7]', async (subject) => {
    const answer = scriptResponse([callBlock('call_1', 'put', ''), callBlock('call_2', 'put', '{}')]);
    const { outcome } = await askOnce(subject, replies(answer));
    expectAnswer(answered(outcome), answer, subject.testing);
  }),
  the('blanks around and inside the JSON of arguments do not matter', async (subject) => {
    const answer = scriptResponse([callBlock('call_1', 'put', ' \n{ "value" :\t[ 1 , 2 ] }\r\n ')]);
    const { outcome } = await askOnce(subject, replies(answer));
    expectAnswer(answered(outcome), answer, subject.testing);
  }),
  the('large arguments below the limit arrive', async (subject) => {
    const answer = scriptResponse([callBlock('call_1', 'put', { value: 'é'.repeat(100_000) })]);
    const { outcome } = await askOnce(subject, replies(answer, { chunks: { size: 16_000 } }));
    expectAnswer(answered(outcome), answer, subject.testing);
  }),
  unusable('arguments that are no JSON [P9]', () => 'value: 1'),
  unusable('arguments that end early [P9]', () => '{"value": "x", "more": [1, 2'),
  unusable('arguments with something behind them [P9]', () => '{"value": 1} {"value": 2}'),
  unusable('arguments with a trailing comma [P9]', () => '{"value": 1,}'),
  unusable('arguments that are an array [P9]', () => '[1]'),
  unusable('arguments that are a text [P9]', () => '"value"'),
  unusable('arguments that are a number [P9]', () => '42'),
  unusable('arguments that are null [P9]', () => 'null'),
  unusable('arguments nested too deeply [P9, P11]', () => nested(65)),
  unusable('arguments nested deep enough to overflow a stack [P9, P11]', () => nested(20_000)),
  unusable('arguments over one mebibyte [P9, P11]', () => JSON.stringify({ value: 'x'.repeat(1024 * 1024) })),
  unusable('arguments that reach for the prototype [P9, P11]', () => '{"__proto__": {"polluted": true}}'),
  unusable(
    'arguments that reach for the prototype further in [P9]',
    () => '{"a": [{"__proto__": {"polluted": true}}]}',
  ),
  the('arguments nested as deeply as allowed are usable [P11]', async (subject) => {
    const answer = scriptResponse([callBlock('call_1', 'put', nested(64))]);
    const { outcome } = await askOnce(subject, replies(answer));
    expectAnswer(answered(outcome), answer, subject.testing);
  }),
  the('a call whose arguments were cut at the token limit cannot be run [P9]', (subject) =>
    expectNoneUsable(subject, '{"value": "half of'),
  ),
  the('a whole call in an answer that was cut cannot be run either [P9]', (subject) =>
    expectNoneUsable(subject, '{"value": "whole"}'),
  ),
  ids('ids given by the service come with the calls', async (subject) => {
    const answer = scriptResponse([callBlock('call_Ab-9_z', 'put', {})]);
    const { outcome } = await askOnce(subject, replies(answer));
    expectEqual(answered(outcome).toolCalls[0]?.id, 'call_Ab-9_z', 'the id');
  }),
  repeatedIds('calls that share one id', ['same', 'same', 'same']),
  repeatedIds('calls without an id', ['', '']),
  repeatedIds('calls of which one lacks its id', ['call_1', '', 'call_3']),
  ids('an id that comes again in a later turn is told apart [P12]', async (subject) => {
    const again = replies(scriptResponse([callBlock('call_0', 'put', { value: 'x' })]));
    await onStage(subject, [again, again, replies(scriptResponse(['Done.']))], async (stage) => {
      const first = answered(await stage.ask({ messages: [user('Go.')] }));
      const once = [user('Go.'), first.message, ...resultsFor(first.message)];
      const second = answered(await stage.ask({ messages: once }));
      answered(await stage.ask({ messages: [...once, second.message, ...resultsFor(second.message)] }));
      expectTied(stage.request(2), ['result 0', 'result 0']);
    });
  }),
  ids('ids of characters that services refuse are sent in plain ones [P12]', async (subject) => {
    await onStage(subject, [replies(scriptResponse(['Done.']))], async (stage) => {
      const odd: ToolCallPart[] = ['call.1/ü', 'call 1', `${'long'.repeat(60)}`].map((id) => ({
        type: 'tool_call',
        id,
        toolName: 'put',
        arguments: {},
      }));
      answered(await stage.ask({ messages: continued([user('Go.')], { role: 'assistant', content: odd }) }));
      expectTied(stage.request(0), ['result 0', 'result 1', 'result 2']);
      const sent = callIds(stage.request(0));
      expect(
        sent.every((id) => /^[A-Za-z0-9_-]{1,64}$/.test(id)),
        `plain and short ids, found ${sent.join(', ')}`,
      );
    });
  }),
];

/** Calls with such ids come out, each in its place, and their results go back to the right one. */
function repeatedIds(what: string, given: readonly string[]): CaseDefinition {
  return ids(`${what} are each answered by their own result [P12]`, async (subject) => {
    const answer = scriptResponse(given.map((id, index) => callBlock(id, 'put', { value: index })));
    await onStage(subject, [replies(answer), replies(scriptResponse(['Done.']))], async (stage) => {
      const response = answered(await stage.ask({ messages: [user('Go.')] }));
      expectEqual(
        response.toolCalls.map((call) => call.arguments),
        given.map((_, value) => ({ value })),
        'the arguments',
      );
      answered(
        await stage.ask({ messages: [user('Go.'), response.message, ...resultsFor(response.message)] }),
      );
      expectTied(
        stage.request(1),
        given.map((_, index) => `result ${index}`),
      );
      expectEqual(
        callInputs(stage.request(1)),
        given.map((_, value) => ({ value })),
        'the arguments sent back',
      );
    });
  });
}

function callIds({ turns }: ReadRequest): string[] {
  return turns.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'call' ? [part.id] : [])));
}

/** Every call of a request has an id of its own, and the results answer the calls in order with these texts. */
function expectTied(request: ReadRequest, texts: readonly string[]): void {
  const calls = callIds(request);
  const results = request.turns.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'result' ? [part] : [])),
  );
  expectEqual(new Set(calls).size, calls.length, 'the number of different call ids');
  expectEqual(
    results.map(({ id }) => id),
    calls,
    'the ids of the results, beside those of the calls',
  );
  expectEqual(
    results.map(({ text }) => text),
    texts,
    'the texts of the results',
  );
}
