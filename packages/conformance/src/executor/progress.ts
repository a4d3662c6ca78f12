import type { ExecutorOptions, Message } from '@cobbler/agent';
import type { ModelStep } from '@cobbler/agent/testing';
import {
  calls,
  expect,
  expectEqual,
  ofType,
  probeTools,
  scriptedModel,
  textResponse,
} from '@cobbler/agent/testing';
import type { ExecutorCase } from './setup/case.ts';
import { group } from './setup/case.ts';

const the = group('progress');

/** An agent that makes the same call in every turn. */
function stubborn(turns = 9, last: ModelStep = textResponse('Done.')): ModelStep[] {
  return [...Array.from({ length: turns }, () => calls([{ name: 'one', arguments: { path: 'a' } }])), last];
}

function isNotice({ role, content }: Message): boolean {
  const [part] = content;
  return role === 'user' && part?.type === 'text' && part.text.includes('the same results');
}

export const progressCases: readonly ExecutorCase[] = [
  the('six identical calls with the same result in a row end the run [P1]', async (setup) => {
    const { tool, names } = probeTools();
    const result = await setup.play({ agent: scriptedModel(stubborn()), tools: [tool('one')] });
    expectEqual([result.status, result.limit, names.length], ['limit', 'no_progress', 6], 'the outcome');
    expectEqual([result.error?.kind, result.error?.code], ['limit', 'no_progress'], 'the error');
    for (const word of ['same calls', '6 times', 'limits.repeats', 'mayRepeat'])
      expect(
        result.error?.message.includes(word) === true,
        `"${word}" in the message: ${result.error?.message}`,
      );
  }),
  the('the model gets one notice before the end, and can do something else', async (setup) => {
    const { tool } = probeTools();
    const agent = scriptedModel([...stubborn(5, calls(['two'])), textResponse('Done.')]);
    const run = setup.run({ agent, tools: [tool('one'), tool('two')] });
    expectEqual((await setup.until(run)).status, 'complete', 'the status');
    expectEqual(ofType(setup.storedOf(run), 'notice').length, 1, 'the notices');
    const notices = agent.requests.map(({ messages }) => messages.filter(isNotice).length);
    expectEqual(notices, [0, 0, 0, 1, 1, 1, 1], 'the notices in each request');
    expect(agent.requests[3]?.messages.at(-1)?.role === 'user', 'the notice at the end of its request');
  }),
  the('no notice is sent if the limit leaves no turn for it', async (setup) => {
    for (const [repeats, notices] of [
      [1, 0],
      [2, 0],
      [3, 1],
    ] as const) {
      const run = setup.run({
        agent: scriptedModel(stubborn()),
        tools: [probeTools().tool('one')],
        limits: { repeats },
      });
      const result = await setup.until(run);
      const stored = setup.storedOf(run);
      const turns = ofType(stored, 'tool_result').length;
      expectEqual(
        [result.limit, turns, ofType(stored, 'notice').length],
        ['no_progress', repeats, notices],
        'the outcome',
      );
    }
  }),
  the('identical calls at least ten seconds apart count as waiting', async (setup) => {
    for (const [ms, status] of [
      [10_000, 'complete'],
      [9_000, 'limit'],
    ] as const) {
      const pause = () => new Promise<string>((done) => void setup.runtime.timer(ms, () => done('not yet')));
      const poll = [probeTools().tool('one', { execute: pause })];
      const run = setup.run({ agent: scriptedModel(stubborn(9)), tools: poll });
      const result = await setup.until(run);
      expectEqual(result.status, status, `the status with ${ms} ms`);
      const { length } = ofType(setup.storedOf(run), 'notice');
      expectEqual(length, status === 'limit' ? 1 : 0, `the notices with ${ms} ms`);
    }
  }),
  the('time that the model takes does not count as waiting', async (setup) => {
    const slow: ModelStep = () =>
      new Promise(
        (done) =>
          void setup.runtime.timer(20_000, () => done(calls([{ name: 'one', arguments: { path: 'a' } }]))),
      );
    const agent = scriptedModel(Array.from({ length: 9 }, () => slow));
    const result = await setup.play({ agent, tools: [probeTools().tool('one')] });
    expectEqual([result.limit, agent.requests.length], ['no_progress', 6], 'the outcome');
  }),
  the('with finalize one closing response follows', async (setup) => {
    const agent = scriptedModel(stubborn(6, textResponse('I am stuck.')));
    const options: ExecutorOptions = { agent, tools: [probeTools().tool('one')], onLimit: 'finalize' };
    const result = await setup.play(options);
    expectEqual([result.limit, result.text], ['no_progress', 'I am stuck.'], 'the outcome');
    expectEqual(agent.requests[6]?.config?.toolChoice, 'none', 'the tool choice');
  }),
  the('different arguments, a different result or a different tool count as progress', async (setup) => {
    const { tool } = probeTools();
    const { tool: counted, runs } = probeTools();
    const counting = counted('count', { execute: () => `${runs.length}` });
    const scripts: ModelStep[][] = [
      Array.from({ length: 8 }, (_, n) => calls([{ name: 'one', arguments: { n } }])),
      Array.from({ length: 8 }, () => calls(['count'])),
      Array.from({ length: 8 }, (_, n) => calls(n % 3 === 0 ? ['one', 'two'] : ['one'])),
    ];
    for (const script of scripts) {
      const tools = [tool('one'), tool('two'), counting];
      const result = await setup.play({ agent: scriptedModel([...script, textResponse('Done.')]), tools });
      expectEqual(result.status, 'complete', 'the status');
    }
  }),
  the('a tool may be allowed to repeat, and the limit can be changed or removed', async (setup) => {
    const { tool } = probeTools();
    const poll = [tool('one', { mayRepeat: true })];
    expectEqual(
      (await setup.play({ agent: scriptedModel(stubborn(8)), tools: poll })).status,
      'complete',
      'the status of a tool that may repeat',
    );
    const plain = [tool('one')];
    const lifted = await setup.play({
      agent: scriptedModel(stubborn(8)),
      tools: plain,
      limits: { repeats: 0 },
    });
    expectEqual(lifted.status, 'complete', 'the status without the limit');
    const five = scriptedModel(stubborn());
    expectEqual(
      (await setup.play({ agent: five, tools: plain, limits: { repeats: 5 } })).limit,
      'no_progress',
      'the limit with 5 repeats',
    );
    expectEqual(five.requests.length, 5, 'the requests');
  }),
  the('a steering message restarts the count', async (setup) => {
    const { tool, runs } = probeTools();
    const agent = scriptedModel(stubborn());
    const onEvent = (event: { type: string }) => {
      if (event.type === 'tool_started' && runs.length === 1)
        expect(run.steer('Try another file.'), 'the message to be accepted');
    };
    const run = setup.run({ agent, tools: [tool('one')] }, 'Go.', { onEvent });
    const result = await setup.until(run);
    expectEqual([result.limit, agent.requests.length], ['no_progress', 8], 'the outcome');
  }),
  the('a crash in between changes nothing: repeated calls in the log count', async (setup) => {
    const { tool } = probeTools();
    const options = { tools: [tool('one', { effect: 'read' })] } as const;
    const stop = scriptedModel([...stubborn(5, () => new Promise(() => {}))]);
    const first = setup.run({ ...options, agent: stop }, 'Go.', { sessionId: 'stubborn' });
    await setup.advance(1000);
    const agent = scriptedModel(stubborn());
    const second = await setup.until(setup.resume({ ...options, agent }, 'stubborn'));
    expectEqual([second.limit, agent.requests.length], ['no_progress', 1], 'the outcome');
    first.cancel();
    await setup.until(first);
  }),
];
