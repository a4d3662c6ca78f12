import type { Run, RunEvent } from '@cobbler/agent';
import { summarize } from '@cobbler/agent';
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
import type { ExecutorCase } from './setup/cases.ts';
import { group } from './setup/cases.ts';

const the = group('steer');

const big = { inputTokens: 5000, outputTokens: 100 };

/** Says something the first time an event of a type is shown. */
function sayAt(
  type: RunEvent['type'],
  text: string,
): { onEvent: (event: RunEvent) => void; speaker: { run?: Run } } {
  const speaker: { run?: Run } = {};
  let said = false;
  const onEvent = (event: RunEvent) => {
    if (said || event.type !== type) return;
    said = true;
    expectEqual(speaker.run?.steer(text), true, 'whether it was heard');
  };
  return { onEvent, speaker };
}

export const steerCases: readonly ExecutorCase[] = [
  the('what is said while a tool runs follows its result and is heard at the next turn', async (stage) => {
    const { onEvent, speaker } = sayAt('tool_started', 'In French, please.');
    const agent = scriptedModel([calls(['one']), textResponse('Voilà.')]);
    speaker.run = stage.run({ agent, tools: [probeTools().tool('one')] }, 'Go.', { onEvent });
    await stage.until(speaker.run);
    expectEqual(
      outline(agent.requests[1]?.messages ?? []),
      ['user: Go.', 'assistant: ', 'tool_result: one done', 'user: In French, please.'],
      'the second request',
    );
  }),
  the('what is said while the last answer is made is heard: the run asks again', async (stage) => {
    const held = Promise.withResolvers<ReturnType<typeof textResponse>>();
    const agent = scriptedModel([() => held.promise, textResponse('Voilà.')]);
    const run = stage.run({ agent });
    await stage.advance(500);
    expectEqual(run.steer('In French, please.'), true, 'whether it was heard');
    await stage.advance(500);
    expectEqual(agent.requests[0]?.messages.length, 1, 'the request under way');
    held.resolve(textResponse('There you are.'));
    const result = await stage.until(run);
    expectEqual(
      outline(result.messages),
      ['user: Go.', 'assistant: There you are.', 'user: In French, please.', 'assistant: Voilà.'],
      'the messages',
    );
    expectEqual([result.status, result.text], ['complete', 'Voilà.'], 'the end');
  }),
  the('what is said while an answer behind results is made is heard as well', async (stage) => {
    const held = Promise.withResolvers<ReturnType<typeof textResponse>>();
    const agent = scriptedModel([calls(['one']), () => held.promise, textResponse('Voilà.')]);
    const run = stage.run({ agent, tools: [probeTools().tool('one')] });
    await stage.advance(500);
    run.steer('In French, please.');
    await stage.advance(500);
    held.resolve(textResponse('There you are.'));
    const result = await stage.until(run);
    expectEqual([result.status, result.text, agent.requests.length], ['complete', 'Voilà.', 3], 'the end');
  }),
  the('what is said when the last answer is stored clears the end', async (stage) => {
    const { onEvent, speaker } = sayAt('assistant', 'One more thing.');
    const agent = scriptedModel([textResponse('Done.'), textResponse('Done again.')]);
    speaker.run = stage.run({ agent }, 'Go.', { onEvent });
    const result = await stage.until(speaker.run);
    expectEqual(
      [result.status, result.text, agent.requests.length],
      ['complete', 'Done again.', 2],
      'the end',
    );
  }),
  the('what was heard is always answered, at whatever moment it comes', async (stage) => {
    for (let moment = 0; moment < 80; moment += 1) {
      const agent = scriptedModel([
        calls(['one']),
        textResponse('A.'),
        textResponse('B.'),
        textResponse('C.'),
      ]);
      const run = stage.run({ agent, tools: [probeTools().tool('one')] });
      for (let round = 0; round < moment; round += 1) await undefined;
      const heard = run.steer('One more thing.');
      const result = await stage.until(run);
      const last = agent.requests.at(-1)?.messages ?? [];
      const answered = outline(last).includes('user: One more thing.');
      expectEqual([result.status, answered], ['complete', heard], `what was answered at moment ${moment}`);
    }
  }),
  the('two things said are heard in order', async (stage) => {
    const held = Promise.withResolvers<ReturnType<typeof textResponse>>();
    const agent = scriptedModel([() => held.promise, textResponse('Both.')]);
    const run = stage.run({ agent });
    await stage.advance(500);
    run.steer('First.');
    run.steer('Second.');
    held.resolve(textResponse('Hm.'));
    await stage.until(run);
    expectEqual(
      outline(agent.requests[1]?.messages ?? []).slice(2),
      ['user: First.', 'user: Second.'],
      'the order',
    );
  }),
  the('what is said while an answer pauses does not come between its halves', async (stage) => {
    const { onEvent, speaker } = sayAt('assistant', 'Faster.');
    const agent = scriptedModel([
      textResponse('First half,', { stop: 'pause' }),
      textResponse(' second half.'),
      textResponse('Faster it is.'),
    ]);
    speaker.run = stage.run({ agent }, 'Go.', { onEvent });
    const result = await stage.until(speaker.run);
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
  the('what is said while the conversation is summarised is heard behind the next answer', async (stage) => {
    const held = Promise.withResolvers<string>();
    const compact = summarize(() => held.promise, { keep: 1 });
    const agent = scriptedModel([
      calls(['one'], { usage: big }),
      textResponse('Done.'),
      textResponse('Voilà.'),
    ]);
    const tools = [probeTools().tool('one')];
    const run = stage.run({ agent, tools, context: { maxTokens: 1000, compact } });
    await stage.advance(500);
    expectEqual(run.steer('In French, please.'), true, 'whether it was heard');
    held.resolve('So far.');
    const result = await stage.until(run);
    expectEqual([result.status, result.text, agent.requests.length], ['complete', 'Voilà.', 3], 'the end');
  }),
  the('what is said while a person is asked follows the result', async (stage) => {
    const asked = Promise.withResolvers<string>();
    const agent = scriptedModel([calls(['one']), textResponse('Voilà.')]);
    const gate = () => ({ type: 'ask' }) as const;
    const onEvent = (event: RunEvent) => {
      if (event.type === 'approval_requested') asked.resolve(event.approvalId);
    };
    const tools = [probeTools().tool('one')];
    const run = stage.run({ agent, tools, gate, attended: true }, 'Go.', { onEvent });
    await stage.advance(500);
    expectEqual(run.steer('In French, please.'), true, 'whether it was heard');
    run.decide(await stage.until(asked.promise), { decision: 'allow' });
    await stage.until(run);
    expectEqual(
      outline(agent.requests[1]?.messages ?? []).slice(2),
      ['tool_result: one done', 'user: In French, please.'],
      'the end of the second request',
    );
  }),
  the('a run at its closing answer hears nothing more, and makes no further request', async (stage) => {
    const held = Promise.withResolvers<ReturnType<typeof textResponse>>();
    const agent = scriptedModel([calls(['one']), () => held.promise, textResponse('Never asked.')]);
    const tools = [probeTools().tool('one')];
    const run = stage.run({ agent, tools, limits: { turns: 1 }, onLimit: 'finalize' });
    await stage.advance(500);
    expectEqual(run.steer('One more thing.'), false, 'whether it was heard');
    held.resolve(textResponse('Closing words.'));
    const result = await stage.until(run);
    expectEqual(
      [result.limit, result.text, agent.requests.length],
      ['turns', 'Closing words.', 2],
      'the end',
    );
  }),
  the('what comes as the limit is reached stands in the history for the next run', async (stage) => {
    for (let moment = 0; moment < 60; moment += 1) {
      const agent = scriptedModel([
        calls(['one']),
        textResponse('Closing words.'),
        textResponse('Never asked.'),
      ]);
      const tools = [probeTools().tool('one')];
      const run = stage.run({ agent, tools, limits: { turns: 1 }, onLimit: 'finalize' });
      for (let round = 0; round < moment; round += 1) await undefined;
      const heard = run.steer('One more thing.');
      const result = await stage.until(run);
      expectEqual([result.limit, agent.requests.length], ['turns', 2], `the end at moment ${moment}`);
      const stands = outline(result.messages).includes('user: One more thing.');
      expectEqual(stands, heard, `whether it stands in the history, at moment ${moment}`);
    }
  }),
  the('what was said and not yet answered when the run failed stands in the history', async (stage) => {
    const held = Promise.withResolvers<never>();
    const run = stage.run({ agent: scriptedModel([() => held.promise]) });
    await stage.advance(500);
    run.steer('Wait.');
    held.reject(new Error('gone'));
    const result = await stage.until(run);
    expectEqual(
      [result.status, outline(result.messages)],
      ['failed', ['user: Go.', 'user: Wait.']],
      'the end',
    );
  }),
  the('after the end, or with nothing in it, nothing is heard', async (stage) => {
    const run = stage.run({ agent: scriptedModel([textResponse('Done.')]) });
    expectEqual([run.steer(''), run.steer([])], [false, false], 'whether nothing was heard');
    await stage.until(run);
    const before = stage.eventsOf(run).length;
    expectEqual(run.steer('Too late.'), false, 'whether it was heard');
    await stage.advance(500);
    expectEqual(stage.eventsOf(run).length, before, 'the number of events');
  }),
  the('a run that is being stopped hears nothing more', async (stage) => {
    const run = stage.run({ agent: scriptedModel([() => new Promise(() => {})]) });
    await stage.advance(500);
    run.cancel();
    expectEqual(run.steer('Wait.'), false, 'whether it was heard');
    const result = await stage.until(run);
    expect(!JSON.stringify(result.messages).includes('Wait.'), 'nothing of it in the history');
  }),
  the('a failed run hears nothing more', async (stage) => {
    const run = stage.run({ agent: scriptedModel([failedResponse(new Error('gone'))]) });
    await stage.until(run);
    expectEqual(run.steer('Hello?'), false, 'whether it was heard');
  }),
];
