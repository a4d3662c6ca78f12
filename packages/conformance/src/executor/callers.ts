import type { ApprovalDecision, Gate, Prompt } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import {
  calls,
  expect,
  expectEqual,
  ofType,
  outline,
  probeTools,
  scriptedModel,
  textResponse,
} from '@cobbler/agent/testing';
import type { ExecutorCase } from './setup/case.ts';
import { group } from './setup/case.ts';

const the = group('callers');

/** Returns the AgentError that a call throws. Rethrows any other error. */
export function errorOf(call: () => unknown): AgentError | undefined {
  try {
    call();
  } catch (thrown) {
    if (AgentError.is(thrown)) return thrown;
    throw thrown;
  }
  return undefined;
}

/** Invalid prompts, and words that the error message must contain. */
const noPrompts: readonly (readonly [value: unknown, ...words: readonly string[]])[] = [
  [null, 'prompt', 'null', 'string'],
  [undefined, 'prompt', 'undefined'],
  [42, 'prompt', '42'],
  [{}, 'prompt', 'an object'],
  [{ role: 'user', content: 'hi' }, 'prompt', 'an array of messages'],
  [[null], 'prompt[0]', 'null'],
  [[7], 'prompt[0]', '7'],
  [[{ type: 'input_text', text: 'hi' }], 'prompt[0].type', '"input_text"', '"text"'],
  [[{ type: 'text', text: 7 }], 'prompt[0].text', '7'],
  [[{ type: 'file', data: 'x' }], 'prompt[0].mediaType', 'undefined'],
  [[{ role: 'system', content: 'Be kind.' }], 'prompt[0].role', '"system"', 'option "system"'],
  [[{ role: 'user', content: 'a' }, null], 'prompt[1]', 'null'],
  [
    [
      { role: 'user', content: 'a' },
      { type: 'text', text: 'b' },
    ],
    'prompt[1].role',
    'undefined',
  ],
  [[{ role: 'user' }], 'prompt[0].content', 'undefined'],
  [[{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }], 'prompt[0].content', 'parts'],
  [[{ role: 'tool', content: [] }], 'prompt[0].role', '"tool"', '"tool_result"'],
  [[{ role: 'tool_result', content: 'ok' }], 'prompt[0].toolCallId', 'undefined'],
  [
    [{ role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'b', input: {} }] }],
    'prompt[0].content[0].type',
    '"tool-call"',
    '"tool_call"',
  ],
  [
    [{ role: 'user', content: [{ type: 'image_url', image_url: {} }] }],
    'prompt[0].content[0].type',
    'mediaType',
  ],
];

const noDecisions: readonly unknown[] = [
  null,
  undefined,
  'allow',
  true,
  {},
  { decision: 'maybe' },
  { decision: true },
  { decision: 'allow', message: 7 },
];

const asks: Gate = () => ({ type: 'ask' });

export const callerCases: readonly ExecutorCase[] = [
  the('an invalid prompt is rejected immediately, with its position and the expected form', async (setup) => {
    const agent = scriptedModel([]);
    for (const [value, ...words] of noPrompts) {
      const error = errorOf(() => setup.executor({ agent }).run(value as Prompt));
      expectEqual(
        [error?.kind, error?.code],
        ['invalid', 'bad_prompt'],
        `the error for ${JSON.stringify(value)}`,
      );
      for (const word of words)
        expect(error?.message.includes(word) === true, `"${word}" in the message: ${error?.message}`);
    }
    expectEqual(agent.requests.length, 0, 'the number of requests');
  }),
  the('messages may have a string as their content', async (setup) => {
    const agent = scriptedModel([textResponse('Done.')]);
    const prompt: Prompt = [
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content: [{ type: 'tool_call', id: 'a', toolName: 'look', arguments: {} }] },
      { role: 'tool_result', toolCallId: 'a', content: 'Rain.' },
      { role: 'assistant', content: 'It rains.' },
      { role: 'user', content: 'And now?' },
    ];
    const result = await setup.play({ agent }, prompt);
    expectEqual(result.status, 'complete', 'the status');
    const wanted = [
      'user: Look.',
      'assistant: ',
      'tool_result: Rain.',
      'assistant: It rains.',
      'user: And now?',
    ];
    expectEqual(outline(agent.requests[0]?.messages ?? []), wanted, 'the request');
  }),
  the('a steering message that is neither a string nor parts is rejected', async (setup) => {
    const run = setup.run({
      agent: scriptedModel([calls(['one']), textResponse('Done.')]),
      tools: [probeTools().tool('one')],
    });
    for (const value of [null, undefined, 7, {}, [null], [{ type: 'text' }]]) {
      const error = errorOf(() => run.steer(value as string));
      expectEqual(error?.code, 'bad_prompt', `the error for ${JSON.stringify(value)}`);
    }
    expectEqual((await setup.until(run)).status, 'complete', 'the status');
    expectEqual(ofType(setup.storedOf(run), 'user').length, 1, 'the number of user messages in the log');
  }),
  the('an invalid decision is rejected, and the approval stays open [P21]', async (setup) => {
    const { tool, names } = probeTools();
    const agent = scriptedModel([calls(['one']), textResponse('Done.')]);
    const run = setup.run({ agent, tools: [tool('one')], gate: asks, attended: true });
    await setup.advance(100);
    const [asked] = ofType(setup.storedOf(run), 'approval_requested');
    for (const value of noDecisions) {
      const error = errorOf(() => run.decide(asked?.approvalId ?? '', value as ApprovalDecision));
      expectEqual(error?.code, 'bad_decision', `the error for ${JSON.stringify(value)}`);
    }
    expectEqual(names, [], 'the tools that ran');
    expectEqual(
      run.decide(asked?.approvalId ?? '', { decision: 'deny' }),
      true,
      'whether a valid decision is accepted',
    );
    await setup.until(run);
    const decided = ofType(setup.storedOf(run), 'approval_decided');
    expectEqual(
      decided.map(({ decision }) => decision),
      ['deny'],
      'the decisions in the log',
    );
  }),
  the('resuming a session with an invalid decision fails [P21]', async (setup) => {
    const agent = scriptedModel([calls(['one'])]);
    await setup.play({ agent, tools: [probeTools().tool('one')], gate: asks }, 'Go.', { sessionId: 'one' });
    const before = (await setup.until(Promise.resolve(setup.store.read('one')))).length;
    const { tool, names } = probeTools();
    const executor = setup.executor({ agent: scriptedModel([]), tools: [tool('one')], gate: asks });
    for (const value of noDecisions) {
      for (const answers of [value, [value], [Object.assign({ approvalId: 'id' }, value)]]) {
        const options = { answers } as unknown as { answers: [] };
        if (answers === undefined) continue;
        const error = errorOf(() => executor.resume('one', options));
        expectEqual(error?.code, 'bad_decision', `the error for ${JSON.stringify(answers)}`);
      }
    }
    const after = (await setup.until(Promise.resolve(setup.store.read('one')))).length;
    expectEqual([after, names.length], [before, 0], 'the number of events and of tools that ran');
  }),
];
