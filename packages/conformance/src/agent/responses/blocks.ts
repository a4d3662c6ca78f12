import type { ModelResponse, StopReason } from '@cobbler/agent';
import type {
  Frame,
  ProviderTesting,
  ScriptAnswer,
  ScriptBlock,
  Step,
  UnsupportedFeature,
} from '@cobbler/agent/testing';
import {
  callBlock,
  expect,
  expectEqual,
  expectOneOf,
  replies,
  responseSteps,
  scriptResponse,
} from '@cobbler/agent/testing';
import { expectResponse, scriptCalls } from '../setup/compare.ts';
import { inText } from '../setup/frame-text.ts';
import { spoken, unfinished } from '../setup/positions.ts';
import { continueConversation, resultsFor, user } from '../setup/request-parts.ts';
import type { Outcome } from '../setup/setup.ts';
import { askOnce, errorOf, responseOf, withSetup } from '../setup/setup.ts';
import type { CaseDefinition, ContractSubject } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';

const the = group('blocks');
const stops = group('stops');

const text: ScriptAnswer = scriptResponse(['One and only.']);
const call = callBlock('call_1', 'put', { value: 'once' });
const called: ScriptAnswer = scriptResponse([call]);

const noRetries = { retry: { retries: 0 } };

function usable({ toolCalls }: ModelResponse): unknown[] {
  return toolCalls.filter(({ problem }) => problem === undefined);
}

/** Fails unless an outcome is this response or a network error. */
function expectSameOrInvalid(outcome: Outcome, answer: ScriptAnswer, { testing }: ContractSubject): void {
  if (outcome.response === undefined) expectEqual(errorOf(outcome).kind, 'network', 'the kind of the error');
  else expectResponse(outcome.response, answer, testing);
}

/**
 * Sends a response in unusual steps, which must produce this response, or an error on a wire whose service never
 * sends these steps.
 */
function sameResponse(
  what: string,
  answer: ScriptAnswer,
  steps: readonly Step[],
  ...needs: UnsupportedFeature[]
): CaseDefinition {
  return the(
    what,
    async (subject) => {
      const { outcome } = await askOnce(subject, replies(answer, { steps }), {}, noRetries);
      expectSameOrInvalid(outcome, answer, subject);
    },
    ...needs,
  );
}

/** Sends a call in unusual steps. It must not run, and the conversation must continue. */
function neverRun(what: string, steps: readonly Step[]): CaseDefinition {
  const run = async (subject: ContractSubject) => {
    // The end of an empty response: an end that repeats the call would make it valid.
    const end = subject.testing.line({ type: 'end' }, scriptResponse([], { stop: 'tool_use' }));
    const script = [replies(called, { steps, edit: (all) => [...all, ...end] }), replies(text)];
    await withSetup(
      subject,
      script,
      async (setup) => {
        const { response, error } = await setup.ask({ messages: [user('Go.')] });
        if (response === undefined) expectEqual(error?.kind, 'network', 'the kind of the error');
        else {
          expectEqual(usable(response), [], 'the runnable calls');
          responseOf(await setup.ask({ messages: continueConversation([user('Go.')], response.message) }));
        }
      },
      { retry: { retries: 0 } },
    );
  };
  return the(`${what} never runs [P9]`, run, 'argument-chunks');
}

/** Sends two responses in one stream. Only the first one counts. */
async function twoInOne(subject: ContractSubject, second: ScriptAnswer): Promise<Outcome> {
  const { testing } = subject;
  const edit = (all: readonly unknown[]) => [...all, ...allOf(second, testing)];
  const { outcome } = await askOnce(subject, replies(text, { edit, chunks: 'whole' }), {}, noRetries);
  return outcome;
}

function allOf(answer: ScriptAnswer, testing: ProviderTesting): unknown[] {
  return [...testing.begin(answer), ...responseSteps(answer).flatMap((step) => testing.line(step, answer))];
}

/** Calls in a response whose stop reason does not allow them to run. */
function unreleased(reason: StopReason, words: string, ...needs: UnsupportedFeature[]): CaseDefinition {
  return stops(
    `complete calls in a response that ${words} never run [P9]`,
    async (subject) => {
      const answer = scriptResponse(['Wait.', callBlock('call_1', 'put', { value: 1 })], { stop: reason });
      await withSetup(subject, [replies(answer), replies(text)], async (setup) => {
        const response = responseOf(await setup.ask({ messages: [user('Go.')] }));
        expectEqual(
          [response.stopReason, usable(response)],
          [reason, []],
          'the stop reason and the runnable calls',
        );
        expectEqual(response.toolCalls.length, 1, 'the number of calls in the response');
        const messages = [user('Go.'), response.message, ...resultsFor(response.message), user('So?')];
        responseOf(await setup.ask({ messages }));
      });
    },
    ...needs,
  );
}

/** Names that every object inherits. As types, names and ids they have no special meaning. */
const inherited = ['constructor', '__proto__', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__'];

/** Payloads that look like a known kind but are not one. */
const lookalikes: readonly unknown[] = [
  ...inherited.map((type) => ({ type })),
  ...inherited.map((type) => ({ do: type, at: 0, delta: 'no' })),
  ...inherited.map((type) => [type, 0, 'no']),
  ...inherited.map((type) => ({ type: 'content_block_start', index: 70, content_block: { type } })),
  ...inherited.map((type) => ({ type: 'content_block_delta', index: 70, delta: { type } })),
  ...inherited.map((type) => ({ type: 'response.output_item.added', output_index: 70, item: { type } })),
  { choices: [null] },
  { choices: {} },
  { choices: [{ delta: [] }] },
  { choices: [{ index: 0, delta: { hologram: 1, tool_calls: {} }, finish_reason: null }] },
  { choices: [{ index: 0, delta: { content: null, role: null } }] },
  { type: 'content_block_delta', index: {}, delta: null },
  { type: 'message_delta', delta: { stop_reason: null }, usage: null },
  { type: 'message_start', message: null },
  { type: 'response.created', response: null },
  { type: 'response.output_item.added', item: null },
];

export const blockCases: readonly CaseDefinition[] = [
  sameResponse('a text opened twice and closed twice is one text or an error', text, [
    { type: 'open', at: 0 },
    { type: 'open', at: 0 },
    { type: 'delta', at: 0, text: 'One and only.' },
    { type: 'close', at: 0 },
    { type: 'close', at: 0 },
    { type: 'end' },
  ]),
  sameResponse('a text that was never opened is a text or an error', text, [
    { type: 'delta', at: 0, text: 'One and ' },
    { type: 'delta', at: 0, text: 'only.' },
    { type: 'close', at: 0 },
    { type: 'end' },
  ]),
  sameResponse('a text that was never closed is complete at the end or an error', text, [
    { type: 'open', at: 0 },
    { type: 'delta', at: 0, text: 'One and only.' },
    { type: 'end' },
  ]),
  sameResponse('a call opened twice is one call or an error [P9]', called, [
    { type: 'open', at: 0 },
    { type: 'open', at: 0 },
    { type: 'delta', at: 0, text: '{"value":"once"}' },
    { type: 'close', at: 0 },
    { type: 'end' },
  ]),
  sameResponse('a call closed twice is one call or an error [P9]', called, [
    { type: 'open', at: 0 },
    { type: 'delta', at: 0, text: '{"value":"once"}' },
    { type: 'close', at: 0 },
    { type: 'close', at: 0 },
    { type: 'end' },
  ]),
  sameResponse('a repeated end is one end or an error', text, [...responseSteps(text), { type: 'end' }]),
  sameResponse('data after the end of a call is not part of the response, or an error', called, [
    ...responseSteps(called),
    { type: 'delta', at: 0, text: '{"value":"again"}' },
    { type: 'close', at: 0 },
  ]),
  neverRun('a call that consists only of arguments', [{ type: 'delta', at: 0, text: '{"value":"once"}' }]),
  neverRun('a call whose arguments are sent twice', [
    { type: 'open', at: 0 },
    { type: 'delta', at: 0, text: '{"value":"once"}' },
    { type: 'delta', at: 0, text: '{"value":"once"}' },
    { type: 'close', at: 0 },
  ]),
  neverRun('a call that continues after it was closed', [
    { type: 'open', at: 0 },
    { type: 'delta', at: 0, text: '{"value":"once"}' },
    { type: 'close', at: 0 },
    { type: 'delta', at: 0, text: '{"value":"twice"}' },
  ]),
  the(
    'a block index reused for another kind of block loses neither block, or is an error',
    async (subject) => {
      const { testing } = subject;
      const edit = (all: readonly unknown[]) => {
        const calls = responseSteps(called).flatMap((step) => testing.line(step, called));
        return [
          ...all.slice(0, testing.begin(text).length),
          ...unfinished(text).flatMap((step) => testing.line(step, text)),
          ...calls,
        ];
      };
      const { outcome } = await askOnce(subject, replies(text, { edit }), {}, noRetries);
      const { response } = outcome;
      if (response === undefined)
        return expectEqual(errorOf(outcome).kind, 'network', 'the kind of the error');
      expectEqual(
        [response.content, response.stopReason],
        ['One and only.', 'tool_use'],
        'text and stop reason',
      );
      expectEqual(response.toolCalls, scriptCalls(called), 'the calls');
    },
  ),
  the(
    'a second response after the first is an error or not part of it, and its usage is not added [P14]',
    async (subject) => {
      const usage = { inputTokens: 7000, outputTokens: 900 };
      const second = scriptResponse(['Another.', callBlock('call_9', 'put', {})], {
        usage,
        model: 'another',
      });
      const outcome = await twoInOne(subject, second);
      const { response } = outcome;
      if (response === undefined)
        return expectEqual(errorOf(outcome).kind, 'network', 'the kind of the error');
      expectEqual(
        [response.content, response.stopReason],
        ['One and only.', 'complete'],
        'text and stop reason',
      );
      expectEqual(response.toolCalls, [], 'the calls');
      if (subject.testing.lacks['model-name'] === undefined)
        expectEqual(response.model, text.model, 'the model');
      expectOneOf(
        response.usage.inputTokens,
        [text.usage.inputTokens, 7000],
        'the input tokens of one of the responses',
      );
      expectOneOf(
        response.usage.outputTokens,
        [text.usage.outputTokens, 900],
        'the output tokens of one of the responses',
      );
    },
  ),
  the('an error after the end changes nothing [P4]', async (subject) => {
    const failure = subject.testing.fail({ kind: 'busy', message: 'Too late.' });
    const edit = (all: readonly unknown[]) => [...all, ...failure];
    for (const chunks of ['whole', 'payload'] as const) {
      const { outcome } = await askOnce(subject, replies(spoken, { edit, chunks }));
      expectResponse(responseOf(outcome), spoken, subject.testing);
    }
  }),
  the('malformed data after the end changes nothing [P4]', async (subject) => {
    const { testing } = subject;
    for (const garbage of [
      '{"half',
      '\u0000\u0000',
      '<html>',
      testing.frame('words'),
      testing.frame('{"a":}'),
    ]) {
      const last = replies(spoken).answer;
      const edit = (all: readonly unknown[]) => [...all, 'garbage'];
      const rewrite = (frame: Frame, _: number, payload: unknown) =>
        payload === 'garbage' ? garbage : frame;
      const { outcome } = await askOnce(subject, replies(last, { edit, rewrite }));
      expectResponse(responseOf(outcome), spoken, testing);
    }
  }),
  the('payloads that only look like known kinds change nothing, or are an error', async (subject) => {
    for (const lookalike of lookalikes) {
      const edit = (all: readonly unknown[]) => [all[0], lookalike, ...all.slice(1)];
      const { outcome } = await askOnce(subject, replies(spoken, { edit }), {}, noRetries);
      expectSameOrInvalid(outcome, spoken, subject);
    }
    const plain: Record<string, unknown> = {};
    expect(plain['delta'] === undefined && plain['at'] === undefined, 'an unchanged prototype');
  }),
  the('a payload nested deep enough to overflow a stack is ignored', async (subject) => {
    const deep = `${'['.repeat(60_000)}${']'.repeat(60_000)}`;
    const edit = (all: readonly unknown[]) => [all[0], 'deep', ...all.slice(1)];
    const rewrite = inText(subject.testing, (sent) => sent.replace('deep', () => deep));
    const { outcome } = await askOnce(
      subject,
      replies(text, { edit, rewrite }),
      {},
      { retry: { retries: 0 } },
    );
    if (outcome.response === undefined)
      expectEqual(errorOf(outcome).kind, 'network', 'the kind of the error');
    else expectResponse(outcome.response, text, subject.testing);
  }),
  the('text instead of a payload is never a success [P1]', async (subject) => {
    const edit = (all: readonly unknown[]) => [...all.slice(0, 2), 'upstream connect error', ...all.slice(2)];
    const { outcome } = await askOnce(subject, replies(text, { edit }), {}, { retry: { retries: 0 } });
    expect(
      outcome.response === undefined,
      "a failure: if the framing is 'sse', anything that is not JSON reaches `event` as a string; call `out.fail({ kind: 'broken', … })` for it",
    );
    expectEqual([errorOf(outcome).kind, errorOf(outcome).retryable], ['network', true], 'kind and retryable');
  }),
  the('calls with names that objects inherit are normal calls', async (subject) => {
    const calls: ScriptBlock[] = inherited.map((name) => callBlock(name, name, { [`x${name}`]: name }));
    const answer = scriptResponse(calls);
    await withSetup(subject, [replies(answer), replies(text)], async (setup) => {
      const response = responseOf(await setup.ask({ messages: [user('Go.')] }));
      expectResponse(response, answer, subject.testing);
      responseOf(await setup.ask({ messages: continueConversation([user('Go.')], response.message) }));
    });
  }),
  the('500 calls in one response keep order, ids and arguments', async (subject) => {
    const answer = scriptResponse(
      Array.from({ length: 500 }, (_, index) => callBlock(`call_${index}`, 'put', { value: index })),
    );
    await withSetup(subject, [replies(answer, { chunks: 'whole' }), replies(text)], async (setup) => {
      const response = responseOf(await setup.ask({ messages: [user('Go.')] }));
      expectResponse(response, answer, subject.testing);
      responseOf(await setup.ask({ messages: continueConversation([user('Go.')], response.message) }));
    });
  }),
  unreleased('refusal', 'is a refusal'),
  unreleased('unknown', 'ends for an unknown reason'),
  unreleased('pause', 'pauses', 'pause'),
  unreleased('context_full', 'fills the context window', 'context-full-stop'),
  stops(
    'calls in a response with the stop reason complete run, because their presence requests it [P4, P9]',
    async (subject) => {
      for (const blocks of [['Wait.', call], [call]]) {
        const answer = scriptResponse(blocks, { stop: 'complete' });
        await withSetup(subject, [replies(answer), replies(text)], async (setup) => {
          const response = responseOf(await setup.ask({ messages: [user('Go.')] }));
          expectEqual(
            [response.stopReason, usable(response)],
            ['tool_use', scriptCalls(answer)],
            'the stop reason and the calls',
          );
          responseOf(await setup.ask({ messages: continueConversation([user('Go.')], response.message) }));
        });
      }
    },
  ),
  stops(
    'a response that claims tool calls and has none is an error, or complete if the wire cannot claim them [P4, P27]',
    async (subject) => {
      const usage = { inputTokens: 120, outputTokens: 2 };
      for (const blocks of [['Just words.'], []]) {
        const answer = scriptResponse(blocks, { stop: 'tool_use', usage });
        const { outcome } = await askOnce(subject, replies(answer), {}, noRetries);
        const { response } = outcome;
        if (response === undefined) expectEqual(errorOf(outcome).kind, 'network', 'the kind of the error');
        else {
          const { stopReason, toolCalls, content } = response;
          expectEqual([stopReason, toolCalls, content], ['complete', [], blocks.join('')], 'the response');
        }
      }
    },
  ),
];
