import type { AssistantPart, Message } from '@cobbler/agent';
import { AgentError, textOf, userMessage } from '@cobbler/agent';
import type { RunFixture } from '@cobbler/agent/testing';
import {
  calls,
  expect,
  expectEqual,
  failedResponse,
  modelResponse,
  ofType,
  outline,
  probeTools,
  resultsOf,
  resultTexts,
  scriptedModel,
  textResponse,
} from '@cobbler/agent/testing';
import type { ExecutorCase } from './setup/case.ts';
import { group } from './setup/case.ts';

const the = group('history');

const halfPair = '\ud83d';

/** The first run of a session fails or ends early; the second must work normally. */
function continuesAfter(
  what: string,
  fail: (setup: RunFixture, sessionId: string) => Promise<unknown>,
): ExecutorCase {
  return the(`the next prompt works after ${what} [P12]`, async (setup) => {
    await fail(setup, 'one');
    const agent = scriptedModel([textResponse('Better now.')]);
    const result = await setup.play({ agent }, 'And now?', { sessionId: 'one' });
    expectEqual([result.status, result.text], ['complete', 'Better now.'], 'the outcome');
    const sent = agent.requests[0]?.messages ?? [];
    expectEqual(outline(sent).at(0), 'user: Go.', 'the first message');
    expectEqual(outline(sent).at(-1), 'user: And now?', 'the last message');
  });
}

const continuationCases: readonly ExecutorCase[] = [
  continuesAfter('a failed request', (setup, sessionId) =>
    setup.play({ agent: scriptedModel([failedResponse(new Error('gone'))]) }, 'Go.', { sessionId }),
  ),
  continuesAfter('a failed request that follows tool results', (setup, sessionId) =>
    setup.play(
      {
        agent: scriptedModel([calls(['one']), failedResponse(new Error('gone'))]),
        tools: [probeTools().tool('one')],
      },
      'Go.',
      {
        sessionId,
      },
    ),
  ),
  continuesAfter('a truncated response with calls', (setup, sessionId) =>
    setup.play({ agent: scriptedModel([calls(['one'], { stop: 'max_tokens' })]) }, 'Go.', { sessionId }),
  ),
  continuesAfter('a limit in the middle of a batch', (setup, sessionId) =>
    setup.play(
      {
        agent: scriptedModel([calls(['one', 'one'])]),
        tools: [probeTools().tool('one')],
        limits: { toolCalls: 1 },
      },
      'Go.',
      { sessionId },
    ),
  ),
  continuesAfter('an empty response', (setup, sessionId) =>
    setup.play({ agent: scriptedModel([modelResponse([])]) }, 'Go.', { sessionId }),
  ),
  continuesAfter('a cancelled batch', async (setup, sessionId) => {
    const tools = [probeTools().tool('one', { execute: () => new Promise(() => {}) })];
    const run = setup.run({ agent: scriptedModel([calls(['one', 'two'])]), tools }, 'Go.', { sessionId });
    await setup.advance(500);
    run.cancel();
    await setup.until(run);
  }),
  continuesAfter('a pending approval', (setup, sessionId) =>
    setup.play(
      {
        agent: scriptedModel([calls(['one', 'two'])]),
        tools: [probeTools().tool('one')],
        gate: () => ({ type: 'ask' }),
      },
      'Go.',
      { sessionId },
    ),
  ),
];

const imported: readonly Message[] = [
  userMessage('Read both.'),
  {
    role: 'assistant',
    content: [
      { type: 'text', text: '' },
      { type: 'tool_call', id: 'a', toolName: 'read', arguments: {} },
      { type: 'tool_call', id: 'b', toolName: 'read', arguments: { [`k${halfPair}`]: halfPair } },
    ],
  },
  { role: 'tool_result', toolCallId: 'b', content: [{ type: 'text', text: 'B' }] },
  { role: 'tool_result', toolCallId: 'b', content: [{ type: 'text', text: 'B again' }] },
  { role: 'tool_result', toolCallId: 'z', content: [{ type: 'text', text: 'a result without a call' }] },
  userMessage('Well?'),
];

export const historyCases: readonly ExecutorCase[] = [
  ...continuationCases,
  the('results follow the order of the calls, whichever finishes first [P12]', async (setup) => {
    const { tool } = probeTools();
    const first = Promise.withResolvers<string>();
    const slow = tool('slow', { effect: 'read', execute: () => first.promise });
    const quick = tool('quick', { effect: 'read' });
    const run = setup.run({
      agent: scriptedModel([calls(['slow', 'quick']), textResponse('Done.')]),
      tools: [slow, quick],
    });
    await setup.advance(1000);
    first.resolve('slow done');
    const result = await setup.until(run);
    expectEqual(resultTexts(result.messages), ['slow done', 'quick done'], 'the results');
    const recorded = ofType(setup.storedOf(run), 'tool_result').map(({ toolName }) => toolName);
    expectEqual(recorded, ['quick', 'slow'], 'the order in which the results were recorded');
  }),
  the(
    'an imported conversation is completed: each call gets one result, and no other result remains [P12]',
    async (setup) => {
      const agent = scriptedModel([textResponse('So.')]);
      const result = await setup.play({ agent }, imported);
      const sent = agent.requests[0]?.messages ?? [];
      expectEqual(
        sent.map(({ role }) => role),
        ['user', 'assistant', 'tool_result', 'tool_result', 'user'],
        'the roles',
      );
      expectEqual(
        resultsOf(sent).map(({ notRun }) => notRun === true),
        [true, false],
        'the results marked as not run',
      );
      expectEqual(textOf(resultsOf(sent)[1] ?? userMessage('')), 'B', 'the result of the second call');
      expectEqual(result.status, 'complete', 'the status');
    },
  ),
  the('a conversation that ends with tool results is continued', async (setup) => {
    const agent = scriptedModel([textResponse('So.')]);
    const history = imported.slice(0, 3);
    const result = await setup.play({ agent }, history);
    expectEqual([result.status, agent.requests[0]?.messages.length], ['complete', 4], 'the outcome');
  }),
  the('empty texts and lone surrogates are repaired wherever they come from [P12]', async (setup) => {
    const { tool } = probeTools();
    const odd = tool('odd', { effect: 'read', execute: () => `out ${halfPair}` });
    const first = modelResponse([
      { type: 'text', text: '' },
      { type: 'text', text: `said ${halfPair}` },
      { type: 'reasoning', text: `thought ${halfPair}` },
      { type: 'tool_call', id: 'a', toolName: 'odd', arguments: { deep: [{ text: halfPair }] } },
    ]);
    const agent = scriptedModel([first, textResponse(`end ${halfPair}`)]);
    const run = setup.run({ agent, tools: [odd] }, [
      { type: 'text', text: '' },
      { type: 'text', text: `prompt ${halfPair}` },
    ]);
    expect(run.steer(`steer ${halfPair}`), 'the message to be accepted');
    const result = await setup.until(run);
    expectEqual(result.text, 'end \ufffd', 'the text of the result');
    expect(JSON.stringify(result.messages).includes('steer \ufffd'), 'the repaired message in the history');
  }),
  the('provider metadata is kept byte for byte [P12]', async (setup) => {
    const seal = { provider: 'puppet', data: { signature: 'abc', deep: [1, { a: null }] } };
    const content: readonly AssistantPart[] = [
      { type: 'reasoning', text: '', seal },
      { type: 'opaque', seal },
      { type: 'tool_call', id: 'a', toolName: 'one', arguments: { b: 1, a: 2 }, seal },
    ];
    const agent = scriptedModel([modelResponse(content), textResponse('Done.')]);
    await setup.play({ agent, tools: [probeTools().tool('one')] });
    expectEqual(
      JSON.stringify(agent.requests[1]?.messages[1]?.content),
      JSON.stringify(content),
      'the parts that the agent returned',
    );
  }),
  the('a message stays the same object in every later request', async (setup) => {
    const { tool } = probeTools();
    const agent = scriptedModel([calls(['one']), calls(['one']), textResponse('Done.')]);
    const result = await setup.play({ agent, tools: [tool('one')] });
    for (const { messages } of agent.requests) {
      expect(
        messages.every((message, index) => message === result.messages[index]),
        'the same messages',
      );
    }
  }),
  the('a session continues in the same store', async (setup) => {
    await setup.play({ agent: scriptedModel([textResponse('Noted.')]) }, 'My name is Ada.', {
      sessionId: 'one',
    });
    const agent = scriptedModel([textResponse('Ada.')]);
    const run = setup.run({ agent }, 'What is my name?', { sessionId: 'one' });
    const result = await setup.until(run);
    const whole = ['user: My name is Ada.', 'assistant: Noted.', 'user: What is my name?'];
    expectEqual(outline(agent.requests[0]?.messages ?? []), whole, 'the request');
    expectEqual(result.metrics.invocations, 1, 'the responses counted for this run');
    expectEqual(setup.storedOf(run)[0]?.seq, 4, 'the sequence number of the first event');
  }),
  the('of a conversation passed to a session with messages, only the new message is added', async (setup) => {
    const first = await setup.play({ agent: scriptedModel([textResponse('Noted.')]) }, 'My name is Ada.', {
      sessionId: 'one',
    });
    const agent = scriptedModel([textResponse('Ada.')]);
    const given = [...first.messages, userMessage('What is my name?')];
    await setup.play({ agent }, given, { sessionId: 'one' });
    expectEqual(agent.requests[0]?.messages.length, 3, 'the length of the conversation');
  }),
  the('two runs of one executor share no state [S0.31]', async (setup) => {
    const agent = scriptedModel([textResponse('One.'), textResponse('Two.')]);
    const executor = setup.executor({ agent });
    await setup.until(executor.run('First.'));
    await setup.until(executor.run('Second.'));
    expectEqual(outline(agent.requests[1]?.messages ?? []), ['user: Second.'], 'the second request');
  }),
  the('an empty prompt is rejected before a session exists', async (setup) => {
    const empty = ['', ' \n', [], [{ type: 'text', text: ' ' }], [userMessage('')]] as const;
    for (const prompt of empty) {
      let thrown: unknown;
      try {
        setup.executor({ agent: scriptedModel([]) }).run(prompt as string);
      } catch (error) {
        thrown = error;
      }
      expect(AgentError.is(thrown) && thrown.kind === 'invalid', 'an error of kind invalid');
    }
    expectEqual(await setup.store.sessions(), [], 'the sessions');
  }),
];
