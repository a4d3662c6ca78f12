import type { Run, RunEvent } from '@cobbler/agent';
import { summarize } from '@cobbler/agent/context';
import {
  calls,
  expect,
  expectEqual,
  failedResponse,
  outline,
  probeTools,
  scriptedModel,
  textResponse,
} from '@cobbler/agent/testing';
import type { ExecutorCase } from './setup/case.ts';
import { group } from './setup/case.ts';

const the = group('steer');

const big = { inputTokens: 5000, outputTokens: 100 };

/** Steers the run the first time an event of a type is emitted. */
function sayAt(
  type: RunEvent['type'],
  text: string,
): { onEvent: (event: RunEvent) => void; speaker: { run?: Run } } {
  const speaker: { run?: Run } = {};
  let hasSteered = false;
  const onEvent = (event: RunEvent) => {
    if (hasSteered || event.type !== type) return;
    hasSteered = true;
    expectEqual(speaker.run?.steer(text), true, 'whether the message was accepted');
  };
  return { onEvent, speaker };
}

export const steerCases: readonly ExecutorCase[] = [
  the('a message sent while a tool runs follows its result and reaches the next turn', async (setup) => {
    const { onEvent, speaker } = sayAt('tool_started', 'In French, please.');
    const agent = scriptedModel([calls(['one']), textResponse('Voilà.')]);
    speaker.run = setup.run({ agent, tools: [probeTools().tool('one')] }, 'Go.', { onEvent });
    await setup.until(speaker.run);
    expectEqual(
      outline(agent.requests[1]?.messages ?? []),
      ['user: Go.', 'assistant: ', 'tool_result: one done', 'user: In French, please.'],
      'the second request',
    );
  }),
  the(
    'a message sent during the last response is accepted, and the run makes another request',
    async (setup) => {
      const held = Promise.withResolvers<ReturnType<typeof textResponse>>();
      const agent = scriptedModel([() => held.promise, textResponse('Voilà.')]);
      const run = setup.run({ agent });
      await setup.advance(500);
      expectEqual(run.steer('In French, please.'), true, 'whether the message was accepted');
      await setup.advance(500);
      expectEqual(agent.requests[0]?.messages.length, 1, 'the messages of the request in progress');
      held.resolve(textResponse('There you are.'));
      const result = await setup.until(run);
      expectEqual(
        outline(result.messages),
        ['user: Go.', 'assistant: There you are.', 'user: In French, please.', 'assistant: Voilà.'],
        'the messages',
      );
      expectEqual([result.status, result.text], ['complete', 'Voilà.'], 'the outcome');
    },
  ),
  the('a message sent during a response to tool results is accepted too', async (setup) => {
    const held = Promise.withResolvers<ReturnType<typeof textResponse>>();
    const agent = scriptedModel([calls(['one']), () => held.promise, textResponse('Voilà.')]);
    const run = setup.run({ agent, tools: [probeTools().tool('one')] });
    await setup.advance(500);
    run.steer('In French, please.');
    await setup.advance(500);
    held.resolve(textResponse('There you are.'));
    const result = await setup.until(run);
    expectEqual(
      [result.status, result.text, agent.requests.length],
      ['complete', 'Voilà.', 3],
      'the outcome',
    );
  }),
  the('a message sent when the last response is stored prevents the end of the run', async (setup) => {
    const { onEvent, speaker } = sayAt('assistant', 'One more thing.');
    const agent = scriptedModel([textResponse('Done.'), textResponse('Done again.')]);
    speaker.run = setup.run({ agent }, 'Go.', { onEvent });
    const result = await setup.until(speaker.run);
    expectEqual(
      [result.status, result.text, agent.requests.length],
      ['complete', 'Done again.', 2],
      'the outcome',
    );
  }),
  the('an accepted message always gets a response, at whatever moment it is sent', async (setup) => {
    for (let moment = 0; moment < 80; moment += 1) {
      const agent = scriptedModel([
        calls(['one']),
        textResponse('A.'),
        textResponse('B.'),
        textResponse('C.'),
      ]);
      const run = setup.run({ agent, tools: [probeTools().tool('one')] });
      for (let round = 0; round < moment; round += 1) await undefined;
      const accepted = run.steer('One more thing.');
      const result = await setup.until(run);
      const last = agent.requests.at(-1)?.messages ?? [];
      const answered = outline(last).includes('user: One more thing.');
      expectEqual(
        [result.status, answered],
        ['complete', accepted],
        `the status, and whether the message is in the last request, at moment ${moment}`,
      );
    }
  }),
  the('two messages are delivered in order', async (setup) => {
    const held = Promise.withResolvers<ReturnType<typeof textResponse>>();
    const agent = scriptedModel([() => held.promise, textResponse('Both.')]);
    const run = setup.run({ agent });
    await setup.advance(500);
    run.steer('First.');
    run.steer('Second.');
    held.resolve(textResponse('Hm.'));
    await setup.until(run);
    expectEqual(
      outline(agent.requests[1]?.messages ?? []).slice(2),
      ['user: First.', 'user: Second.'],
      'the order of the messages',
    );
  }),
  the('a message sent while a response pauses does not separate its halves', async (setup) => {
    const { onEvent, speaker } = sayAt('assistant', 'Faster.');
    const agent = scriptedModel([
      textResponse('First half,', { stop: 'pause' }),
      textResponse(' second half.'),
      textResponse('Faster it is.'),
    ]);
    speaker.run = setup.run({ agent }, 'Go.', { onEvent });
    const result = await setup.until(speaker.run);
    expectEqual(
      outline(result.messages),
      [
        'user: Go.',
        'assistant: First half,',
        'assistant:  second half.',
        'user: Faster.',
        'assistant: Faster it is.',
      ],
      'the messages',
    );
  }),
  the('a message sent while the conversation is summarized follows the next response', async (setup) => {
    const held = Promise.withResolvers<string>();
    const compact = summarize(() => held.promise, { keep: 1 });
    const agent = scriptedModel([
      calls(['one'], { usage: big }),
      textResponse('Done.'),
      textResponse('Voilà.'),
    ]);
    const tools = [probeTools().tool('one')];
    const run = setup.run({ agent, tools, context: { maxTokens: 1000, compact } });
    await setup.advance(500);
    expectEqual(run.steer('In French, please.'), true, 'whether the message was accepted');
    held.resolve('So far.');
    const result = await setup.until(run);
    expectEqual(
      [result.status, result.text, agent.requests.length],
      ['complete', 'Voilà.', 3],
      'the outcome',
    );
  }),
  the('a message sent while an approval is pending follows the result', async (setup) => {
    const asked = Promise.withResolvers<string>();
    const agent = scriptedModel([calls(['one']), textResponse('Voilà.')]);
    const gate = () => ({ type: 'ask' }) as const;
    const onEvent = (event: RunEvent) => {
      if (event.type === 'approval_requested') asked.resolve(event.approvalId);
    };
    const tools = [probeTools().tool('one')];
    const run = setup.run({ agent, tools, gate, attended: true }, 'Go.', { onEvent });
    await setup.advance(500);
    expectEqual(run.steer('In French, please.'), true, 'whether the message was accepted');
    run.decide(await setup.until(asked.promise), { decision: 'allow' });
    await setup.until(run);
    expectEqual(
      outline(agent.requests[1]?.messages ?? []).slice(2),
      ['tool_result: one done', 'user: In French, please.'],
      'the end of the second request',
    );
  }),
  the('a run at its closing response accepts no message and makes no further request', async (setup) => {
    const held = Promise.withResolvers<ReturnType<typeof textResponse>>();
    const agent = scriptedModel([calls(['one']), () => held.promise, textResponse('Never asked.')]);
    const tools = [probeTools().tool('one')];
    const run = setup.run({ agent, tools, limits: { turns: 1 }, onLimit: 'finalize' });
    await setup.advance(500);
    expectEqual(run.steer('One more thing.'), false, 'whether the message was accepted');
    held.resolve(textResponse('Closing words.'));
    const result = await setup.until(run);
    expectEqual(
      [result.limit, result.text, agent.requests.length],
      ['turns', 'Closing words.', 2],
      'the outcome',
    );
  }),
  the('a message sent as the limit is reached stays in the history for the next run', async (setup) => {
    for (let moment = 0; moment < 60; moment += 1) {
      const agent = scriptedModel([
        calls(['one']),
        textResponse('Closing words.'),
        textResponse('Never asked.'),
      ]);
      const tools = [probeTools().tool('one')];
      const run = setup.run({ agent, tools, limits: { turns: 1 }, onLimit: 'finalize' });
      for (let round = 0; round < moment; round += 1) await undefined;
      const accepted = run.steer('One more thing.');
      const result = await setup.until(run);
      expectEqual([result.limit, agent.requests.length], ['turns', 2], `the outcome at moment ${moment}`);
      const isStored = outline(result.messages).includes('user: One more thing.');
      expectEqual(isStored, accepted, `whether the message is in the history, at moment ${moment}`);
    }
  }),
  the('a message without a response when the run fails stays in the history', async (setup) => {
    const held = Promise.withResolvers<never>();
    const run = setup.run({ agent: scriptedModel([() => held.promise]) });
    await setup.advance(500);
    run.steer('Wait.');
    held.reject(new Error('gone'));
    const result = await setup.until(run);
    expectEqual(
      [result.status, outline(result.messages)],
      ['failed', ['user: Go.', 'user: Wait.']],
      'the outcome',
    );
  }),
  the('an empty message, or one sent after the end, is not accepted', async (setup) => {
    const run = setup.run({ agent: scriptedModel([textResponse('Done.')]) });
    expectEqual([run.steer(''), run.steer([])], [false, false], 'whether the empty messages were accepted');
    await setup.until(run);
    const before = setup.eventsOf(run).length;
    expectEqual(run.steer('Too late.'), false, 'whether the message was accepted');
    await setup.advance(500);
    expectEqual(setup.eventsOf(run).length, before, 'the number of events');
  }),
  the('a run that is being cancelled accepts no message', async (setup) => {
    const run = setup.run({ agent: scriptedModel([() => new Promise(() => {})]) });
    await setup.advance(500);
    run.cancel();
    expectEqual(run.steer('Wait.'), false, 'whether the message was accepted');
    const result = await setup.until(run);
    expect(!JSON.stringify(result.messages).includes('Wait.'), 'the message not to be in the history');
  }),
  the('a failed run accepts no message', async (setup) => {
    const run = setup.run({ agent: scriptedModel([failedResponse(new Error('gone'))]) });
    await setup.until(run);
    expectEqual(run.steer('Hello?'), false, 'whether the message was accepted');
  }),
];
