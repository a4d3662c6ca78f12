import type { ModelResponse, ToolCallPart } from '@cobbler/agent';
import { callsOf } from '@cobbler/agent';
import type { ReadRequest } from '@cobbler/agent/testing';
import { callBlock, expect, expectEqual, replies, scriptResponse } from '@cobbler/agent/testing';
import { expectResponse } from '../setup/compare.ts';
import { continueConversation, resultsFor, user } from '../setup/request-parts.ts';
import { askOnce, responseOf, withSetup } from '../setup/setup.ts';
import type { CaseDefinition, ContractSubject } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';

const the = group('calls');
const ids = group('ids');

/**
 * A call whose raw arguments must be reported as invalid, without affecting a valid call in the same
 * response.
 */
function unusable(name: string, input: () => string): CaseDefinition {
  return the(`rejects only the call with ${name}`, async (subject) => {
    const bad = callBlock('call_bad', 'put', input());
    const good = callBlock('call_good', 'look_up', { word: 'fine' });
    await withSetup(
      subject,
      [replies(scriptResponse([bad, good])), replies(scriptResponse(['Sorry.']))],
      async (setup) => {
        const response = responseOf(await setup.ask({ messages: [user('Go.')] }));
        const [first, second] = response.toolCalls;
        expect(typeof first?.problem === 'string' && first.problem !== '', 'a problem for the first call');
        expectEqual(
          second,
          { id: 'call_good', toolName: 'look_up', arguments: { word: 'fine' } },
          'the valid call',
        );
        const plain: Record<string, unknown> = {};
        expect(plain['polluted'] === undefined, 'an unchanged prototype');
        responseOf(await setup.ask({ messages: continueConversation([user('Go.')], response.message) }));
        expectEqual(callInputs(setup.request(1)), [{}, { word: 'fine' }], 'the arguments sent back');
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

/** A truncated response, none of whose calls may run. */
async function expectNoneUsable(subject: ContractSubject, input: string): Promise<void> {
  const answer = scriptResponse(['Wait.', callBlock('call_1', 'put', input)], { stop: 'max_tokens' });
  await withSetup(subject, [replies(answer), replies(scriptResponse(['Again.']))], async (setup) => {
    const response = responseOf(await setup.ask({ messages: [user('Go.')] }));
    expectEqual(response.stopReason, 'max_tokens', 'the stop reason');
    expectEqual(usable(response), [], 'the runnable calls');
    responseOf(await setup.ask({ messages: continueConversation([user('Go.')], response.message) }));
  });
}

function usable({ toolCalls }: ModelResponse): unknown[] {
  return toolCalls.filter(({ problem }) => problem === undefined);
}

export const callCases: readonly CaseDefinition[] = [
  the('nested arguments with unusual keys arrive unchanged [S0.7]', async (subject) => {
    const args = {
      'schlüssel "a"': { deep: [[1, 2.5, -3e-7], { '': null }], flag: false },
      constructor: 'x',
      toString: { length: 0 },
      lines: 'a\r\nb\u2028c\u0000',
      漢字: '🧵',
    };
    const answer = scriptResponse([callBlock('call_1', 'put', args)]);
    const { outcome } = await askOnce(subject, replies(answer));
    expectResponse(responseOf(outcome), answer, subject.testing);
    expectEqual(responseOf(outcome).toolCalls[0]?.arguments, args, 'the arguments');
  }),
  the('parallel calls keep their order, names and arguments [S0.7]', async (subject) => {
    const names = ['look_up', 'put', 'look_up', 'put', 'look_up'];
    const answer = scriptResponse(
      names.map((name, index) => callBlock(`call_${index}`, name, { word: `w${index}` })),
    );
    const { outcome } = await askOnce(subject, replies(answer));
    expectResponse(responseOf(outcome), answer, subject.testing);
    expectEqual(
      callsOf(responseOf(outcome).message).map(({ id }) => id),
      responseOf(outcome).toolCalls.map(({ id }) => id),
      'the ids in the message',
    );
  }),
  the('a call without arguments has empty arguments [S0.7]', async (subject) => {
    const answer = scriptResponse([callBlock('call_1', 'put', ''), callBlock('call_2', 'put', '{}')]);
    const { outcome } = await askOnce(subject, replies(answer));
    expectResponse(responseOf(outcome), answer, subject.testing);
  }),
  the('whitespace around and inside the JSON of arguments is ignored', async (subject) => {
    const answer = scriptResponse([callBlock('call_1', 'put', ' \n{ "value" :\t[ 1 , 2 ] }\r\n ')]);
    const { outcome } = await askOnce(subject, replies(answer));
    expectResponse(responseOf(outcome), answer, subject.testing);
  }),
  the('large arguments below the limit are accepted', async (subject) => {
    const answer = scriptResponse([callBlock('call_1', 'put', { value: 'é'.repeat(100_000) })]);
    const { outcome } = await askOnce(subject, replies(answer, { chunks: { size: 16_000 } }));
    expectResponse(responseOf(outcome), answer, subject.testing);
  }),
  unusable('arguments that are not JSON [P9]', () => 'value: 1'),
  unusable('arguments that end early [P9]', () => '{"value": "x", "more": [1, 2'),
  unusable('arguments followed by more text [P9]', () => '{"value": 1} {"value": 2}'),
  unusable('arguments with a trailing comma [P9]', () => '{"value": 1,}'),
  unusable('arguments that are an array [P9]', () => '[1]'),
  unusable('arguments that are a string [P9]', () => '"value"'),
  unusable('arguments that are a number [P9]', () => '42'),
  unusable('arguments that are null [P9]', () => 'null'),
  unusable('arguments nested too deeply [P9, P11]', () => nested(65)),
  unusable('arguments nested deep enough to overflow a stack [P9, P11]', () => nested(20_000)),
  unusable('arguments over one mebibyte [P9, P11]', () => JSON.stringify({ value: 'x'.repeat(1024 * 1024) })),
  unusable('arguments with a __proto__ key [P9, P11]', () => '{"__proto__": {"polluted": true}}'),
  unusable('arguments with a nested __proto__ key [P9]', () => '{"a": [{"__proto__": {"polluted": true}}]}'),
  the('arguments nested as deeply as allowed are accepted [P11]', async (subject) => {
    const answer = scriptResponse([callBlock('call_1', 'put', nested(64))]);
    const { outcome } = await askOnce(subject, replies(answer));
    expectResponse(responseOf(outcome), answer, subject.testing);
  }),
  the('a call whose arguments were cut off at the token limit cannot run [P9]', (subject) =>
    expectNoneUsable(subject, '{"value": "half of'),
  ),
  the('a complete call in a truncated response cannot run either [P9]', (subject) =>
    expectNoneUsable(subject, '{"value": "whole"}'),
  ),
  ids('ids from the service are kept', async (subject) => {
    const answer = scriptResponse([callBlock('call_Ab-9_z', 'put', {})]);
    const { outcome } = await askOnce(subject, replies(answer));
    expectEqual(responseOf(outcome).toolCalls[0]?.id, 'call_Ab-9_z', 'the id');
  }),
  repeatedIds('calls that share one id', ['same', 'same', 'same']),
  repeatedIds('calls without an id', ['', '']),
  repeatedIds('calls where one has no id', ['call_1', '', 'call_3']),
  ids('an id repeated in a later turn stays distinct [P12]', async (subject) => {
    const again = replies(scriptResponse([callBlock('call_0', 'put', { value: 'x' })]));
    await withSetup(subject, [again, again, replies(scriptResponse(['Done.']))], async (setup) => {
      const first = responseOf(await setup.ask({ messages: [user('Go.')] }));
      const once = [user('Go.'), first.message, ...resultsFor(first.message)];
      const second = responseOf(await setup.ask({ messages: once }));
      responseOf(await setup.ask({ messages: [...once, second.message, ...resultsFor(second.message)] }));
      expectTied(setup.request(2), ['result 0', 'result 0']);
    });
  }),
  ids('ids with characters that services reject are sent with plain ones [P12]', async (subject) => {
    await withSetup(subject, [replies(scriptResponse(['Done.']))], async (setup) => {
      const odd: ToolCallPart[] = ['call.1/ü', 'call 1', `${'long'.repeat(60)}`].map((id) => ({
        type: 'tool_call',
        id,
        toolName: 'put',
        arguments: {},
      }));
      responseOf(
        await setup.ask({
          messages: continueConversation([user('Go.')], { role: 'assistant', content: odd }),
        }),
      );
      expectTied(setup.request(0), ['result 0', 'result 1', 'result 2']);
      const sent = callIds(setup.request(0));
      expect(
        sent.every((id) => /^[A-Za-z0-9_-]{1,64}$/.test(id)),
        `plain and short ids, found ${sent.join(', ')}`,
      );
    });
  }),
];

/** Calls with such ids must keep their order, and each result must be sent back for its own call. */
function repeatedIds(what: string, given: readonly string[]): CaseDefinition {
  return ids(`${what} each get their own result [P12]`, async (subject) => {
    const answer = scriptResponse(given.map((id, index) => callBlock(id, 'put', { value: index })));
    await withSetup(subject, [replies(answer), replies(scriptResponse(['Done.']))], async (setup) => {
      const response = responseOf(await setup.ask({ messages: [user('Go.')] }));
      expectEqual(
        response.toolCalls.map((call) => call.arguments),
        given.map((_, value) => ({ value })),
        'the arguments',
      );
      responseOf(
        await setup.ask({ messages: [user('Go.'), response.message, ...resultsFor(response.message)] }),
      );
      expectTied(
        setup.request(1),
        given.map((_, index) => `result ${index}`),
      );
      expectEqual(
        callInputs(setup.request(1)),
        given.map((_, value) => ({ value })),
        'the arguments sent back',
      );
    });
  });
}

function callIds({ turns }: ReadRequest): string[] {
  return turns.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'call' ? [part.id] : [])));
}

/**
 * Fails unless each call of a request has a unique id and the results have these texts in the order of the
 * calls.
 */
function expectTied(request: ReadRequest, texts: readonly string[]): void {
  const calls = callIds(request);
  const results = request.turns.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'result' ? [part] : [])),
  );
  expectEqual(new Set(calls).size, calls.length, 'the number of different call ids');
  expectEqual(
    results.map(({ id }) => id),
    calls,
    'the ids of the results, compared with those of the calls',
  );
  expectEqual(
    results.map(({ text }) => text),
    texts,
    'the texts of the results',
  );
}
