import type { Advance, Event, ExecutorOptions, Tool, WaitStart } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { RunFixture } from '@cobbler/agent/testing';
import {
  calls,
  expect,
  expectEqual,
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

const the = group('wait');
const inSteps = group('wait in steps');

const minutes = 60_000;

/** A tool that waits ten minutes before it runs, and what it was given. */
function waiting(end: (start: WaitStart) => number | undefined = ({ now }) => now + 10 * minutes) {
  const probe = probeTools();
  const starts: WaitStart[] = [];
  const waitUntil: Tool['waitUntil'] = (_args, start) => {
    starts.push(start);
    return end(start);
  };
  const tool = probe.tool('wait', { effect: 'read', waitUntil });
  return { probe, starts, tool, waits: () => probe.runs.map(({ context }) => context.wait) };
}

function stored(setup: RunFixture, sessionId: string): Promise<readonly Event[]> {
  return setup.until(Promise.resolve(setup.store.read(sessionId)));
}

const inProcess: readonly ExecutorCase[] = [
  the('a call waits until its time and then runs, in the same turn [P30]', async (setup) => {
    const { tool, waits } = waiting();
    const agent = scriptedModel([calls(['wait']), textResponse('Done.')]);
    const until = setup.runtime.now() + 10 * minutes;
    const run = setup.run({ agent, tools: [tool] });
    await setup.advance(9 * minutes);
    expectEqual(waits(), [], 'the calls that ran before the time');
    const result = await setup.until(run);
    const [wait] = waits();
    expectEqual([wait?.endedBy, agent.requests.length], ['time', 2], 'the end of the wait, and the requests');
    expect((wait?.endedAt ?? 0) >= until, 'the call to run after its time');
    const started = ofType(setup.storedOf(run), 'tool_started');
    expectEqual(
      started.map(({ waitUntil }) => waitUntil),
      [wait?.until],
      'the stored end of the wait',
    );
    expectEqual([result.status, result.metrics.toolCalls], ['complete', 1], 'the outcome');
  }),
  the('a message ends the wait early and reaches the next turn [P30]', async (setup) => {
    const { tool, waits } = waiting();
    const agent = scriptedModel([calls(['wait']), textResponse('Voilà.')]);
    const run = setup.run({ agent, tools: [tool] });
    await setup.advance(minutes);
    expectEqual(run.steer('In French, please.'), true, 'whether the message was accepted');
    await setup.until(run);
    expectEqual(
      waits().map((wait) => wait?.endedBy),
      ['message'],
      'the end of the wait',
    );
    expect(setup.elapsed < 2 * minutes, `the end soon after the message, found it at ${setup.elapsed} ms`);
    expectEqual(
      outline(agent.requests[1]?.messages ?? []).slice(2),
      ['tool_result: wait done', 'user: In French, please.'],
      'the end of the second request',
    );
  }),
  the('a message that is older than the wait ends it at once', async (setup) => {
    const { tool, probe, waits } = waiting();
    const held = Promise.withResolvers<string>();
    const first = probe.tool('first', { execute: () => held.promise });
    const agent = scriptedModel([calls(['first', 'wait']), textResponse('Done.')]);
    const run = setup.run({ agent, tools: [first, tool] });
    await setup.advance(1000);
    run.steer('Hurry.');
    held.resolve('first done');
    await setup.until(run);
    expectEqual(waits()[1]?.endedBy, 'message', 'the end of the wait');
    expect(setup.elapsed < minutes, `no wait, found an end at ${setup.elapsed} ms`);
  }),
  the('a cancel ends the wait, and the call does not run [P3, P30]', async (setup) => {
    const { tool, waits } = waiting();
    const run = setup.run({ agent: scriptedModel([calls(['wait'])]), tools: [tool] });
    await setup.advance(minutes);
    run.cancel();
    const result = await setup.until(run);
    expectEqual([result.status, waits()], ['cancelled', []], 'the outcome, and the calls that ran');
    expect(setup.elapsed <= minutes + 250, `the end within 250 ms, found it at ${setup.elapsed} ms`);
  }),
  the('after a crash in the middle the wait ends at the same time [P9, P30]', async (setup) => {
    for (const gone of [3 * minutes, 20 * minutes]) {
      const sessionId = `after-${gone}`;
      const left = waiting();
      const run = setup.run({ agent: scriptedModel([calls(['wait'])]), tools: [left.tool] }, 'Go.', {
        sessionId,
      });
      await setup.advance(minutes);
      const until = ofType(setup.storedOf(run), 'tool_started')[0]?.waitUntil ?? 0;
      // Another process continues the session, so the first one can write nothing more.
      const next = waiting();
      const other = setup.executor({ agent: scriptedModel([textResponse('Done.')]), tools: [next.tool] });
      await setup.until(Promise.resolve(setup.store.claim(sessionId)));
      run.cancel();
      await setup.until(run);
      await setup.advance(gone);
      const resumed = setup.runtime.now();
      const result = await setup.until(other.resume(sessionId));
      const [wait] = next.waits();
      expectEqual([result.status, next.starts, wait?.until], ['complete', [], until], 'the end of the wait');
      const ends = Math.max(until, resumed);
      expectEqual(wait?.endedBy, 'time', 'the reason for its end');
      expect(Math.abs((wait?.endedAt ?? 0) - ends) < 1000, `the call to run at the end of the wait`);
    }
  }),
  the('a wait runs alone, in the order of the calls', async (setup) => {
    const { tool, probe } = waiting();
    const look = probe.tool('look', { effect: 'read' });
    const agent = scriptedModel([calls(['look', 'wait', 'look']), textResponse('Done.')]);
    const run = setup.run({ agent, tools: [tool, look] });
    await setup.advance(minutes);
    expectEqual(probe.names, ['look'], 'the calls that ran before the wait ended');
    await setup.until(run);
    expectEqual(probe.names, ['look', 'wait', 'look'], 'the calls that ran');
  }),
  the('a wait counts towards the time limit of the run, which the tool is given', async (setup) => {
    const { tool, starts, waits } = waiting();
    const agent = scriptedModel([calls(['wait'])]);
    const result = await setup.play({ agent, tools: [tool], limits: { ms: 5 * minutes } });
    expectEqual([result.status, waits()], ['timeout', []], 'the outcome, and the calls that ran');
    const { msLeft = 0 } = starts[0] ?? {};
    expect(msLeft > 4 * minutes && msLeft <= 5 * minutes, `about five minutes, found ${msLeft} ms`);
  }),
  the('a wait can be longer than one timer', async (setup) => {
    const { tool, waits } = waiting(({ now }) => now + 30 * 1440 * minutes);
    const agent = scriptedModel([calls(['wait']), textResponse('Done.')]);
    const result = await setup.play({ agent, tools: [tool], limits: { ms: Number.POSITIVE_INFINITY } });
    const [wait] = waits();
    expectEqual([result.status, wait?.endedBy], ['complete', 'time'], 'the outcome');
    expect(setup.elapsed >= 30 * 1440 * minutes, `30 days, found ${setup.elapsed} ms`);
  }),
  the('a call whose tool rejects the wait, or names no time, is an error and does not run', async (setup) => {
    const no = waiting(() => {
      throw new Error('That is too long.');
    });
    const odd = waiting(() => Number.NaN);
    for (const { tool, waits } of [no, odd]) {
      const agent = scriptedModel([calls(['wait']), textResponse('I see.')]);
      const result = await setup.play({ agent, tools: [tool] });
      expectEqual(waits(), [], 'the calls that ran');
      expectEqual(
        resultsOf(result.messages).map(({ isError, notRun }) => [isError, notRun]),
        [[true, true]],
        'the result',
      );
      expect(/too long|waitUntil is NaN/.test(resultTexts(result.messages)[0] ?? ''), 'the reason');
    }
  }),
  the('a call without a wait, or whose time has passed, runs at once', async (setup) => {
    for (const end of [() => undefined, ({ now }: WaitStart) => now - minutes]) {
      const { tool } = waiting(end);
      const agent = scriptedModel([calls(['wait']), textResponse('Done.')]);
      expectEqual((await setup.play({ agent, tools: [tool] })).status, 'complete', 'the outcome');
    }
    expect(setup.elapsed < minutes, `no wait, found ${setup.elapsed} ms`);
  }),
  the('only a tool that can run again can wait [P9]', async (setup) => {
    const { tool } = probeTools();
    for (const effect of ['once', undefined] as const) {
      const wait = { ...tool('wait', { waitUntil: () => 0, effect: 'read' }), effect } as Tool;
      let message = '';
      try {
        setup.executor({ agent: scriptedModel([]), tools: [wait] });
      } catch (thrown) {
        message = String(thrown);
      }
      expect(message.includes('waitUntil'), `an error about waitUntil, found ${JSON.stringify(message)}`);
    }
  }),
];

/** Performs the actions of a run until it waits or ends. Each action has an executor of its own, as in other processes. */
async function act(
  setup: RunFixture,
  options: ExecutorOptions,
  rest: { readonly waitEnded?: 'time' | 'message'; readonly signal?: AbortSignal } = {},
): Promise<Advance> {
  for (let given = rest; ; given = {}) {
    const advance = setup.executor(options).advance({ prompt: 'Go.', ...ids, ...given });
    const advanced = await setup.until(advance);
    if (advanced.over || advanced.waitUntil !== undefined) return advanced;
  }
}

const ids = { sessionId: 'one', runId: 'r1' };

function endOf(advance: Advance): unknown {
  return advance.over ? advance.result.status : advance.waitUntil;
}

const stepwise: readonly ExecutorCase[] = [
  inSteps('a step ends when a call waits, and a later one runs it at its time [P9, P30]', async (setup) => {
    const { tool, waits, starts } = waiting();
    const agent = scriptedModel([calls(['wait']), textResponse('Done.')]);
    const options = { agent, tools: [tool], limits: { ms: minutes, toolCalls: 1 } };
    const first = await act(setup, options);
    expect(setup.elapsed < minutes, `no process to wait, found ${setup.elapsed} ms`);
    const until = (starts[0]?.now ?? 0) + 10 * minutes;
    expectEqual([endOf(first), starts[0]?.msLeft], [until, Number.POSITIVE_INFINITY], 'the end of the wait');
    const before = await stored(setup, 'one');
    for (let time = 0; time < 3; time += 1) {
      await setup.advance(minutes);
      expectEqual(endOf(await act(setup, options)), until, 'the end of the wait, after a restart');
    }
    expectEqual((await stored(setup, 'one')).length, before.length, 'the events in the middle of the wait');
    await setup.advance(7 * minutes);
    expectEqual(endOf(await act(setup, options)), 'complete', 'the outcome');
    expectEqual(
      waits().map((wait) => [wait?.until, wait?.endedBy]),
      [[until, 'time']],
      'the end of the wait',
    );
    expectEqual(
      (await stored(setup, 'one')).map(({ type }) => type),
      ['user', 'assistant', 'tool_started', 'tool_result', 'assistant', 'finished'],
      'the events',
    );
  }),
  inSteps('the caller can end the wait early, or by its own clock [P30]', async (setup) => {
    for (const waitEnded of ['message', 'time'] as const) {
      const { tool, waits } = waiting();
      const agent = scriptedModel([calls(['wait']), textResponse('Done.')]);
      const options = { agent, tools: [tool], store: setup.store };
      const own = { sessionId: `ended-by-${waitEnded}`, runId: waitEnded };
      const once = (rest: { waitEnded?: 'message' | 'time' }) =>
        setup.until(setup.executor(options).advance({ prompt: 'Go.', ...own, ...rest }));
      await once({});
      expect(endOf(await once({})) !== undefined, 'a wait');
      expectEqual(endOf(await once({ waitEnded })), undefined, 'the end of the wait');
      expectEqual(
        waits().map((wait) => wait?.endedBy),
        [waitEnded],
        'the reason for its end',
      );
      expectEqual(endOf(await once({})), 'complete', 'the outcome');
    }
    expect(setup.elapsed < minutes, `no wait, found ${setup.elapsed} ms`);
  }),
  inSteps('a cancel in the middle of a wait ends the run, and the call does not run [P3]', async (setup) => {
    const { tool, waits } = waiting();
    const options = { agent: scriptedModel([calls(['wait'])]), tools: [tool] };
    await act(setup, options);
    const cancelled = new AgentError({ kind: 'aborted', code: 'cancelled', message: 'Cancelled.' });
    const signal = AbortSignal.abort(cancelled);
    expectEqual(endOf(await act(setup, options, { signal })), 'cancelled', 'the outcome');
    expectEqual(waits(), [], 'the calls that ran');
  }),
  inSteps('a crash after the wait runs the call again, without another start [P9]', async (setup) => {
    const { tool } = waiting();
    const broken: Tool = { ...tool, execute: () => new Promise(() => {}) };
    await act(setup, { agent: scriptedModel([calls(['wait'])]), tools: [broken] });
    await setup.advance(10 * minutes);
    const gone = new AbortController();
    const cut = setup
      .executor({ agent: scriptedModel([]), tools: [broken] })
      .advance({ ...ids, signal: gone.signal });
    const failed = cut.then(
      () => 'nothing',
      (thrown) => String(thrown),
    );
    await setup.advance(100);
    gone.abort(new Error('The process ends.'));
    expect((await setup.until(failed)).includes('The process ends.'), 'the step to be left');
    const options = { agent: scriptedModel([textResponse('Done.')]), tools: [tool] };
    expectEqual(endOf(await act(setup, options)), 'complete', 'the outcome');
    expectEqual(ofType(await stored(setup, 'one'), 'tool_started').length, 1, 'the starts');
  }),
];

export const toolWaitCases: readonly ExecutorCase[] = [...inProcess, ...stepwise];
