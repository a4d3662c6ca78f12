import type { ExecutorOptions, Run, RunEvent, RunOptions, RunResult } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { summarize } from '@cobbler/agent/context';
import type { RunFixture } from '@cobbler/agent/testing';
import {
  calls,
  expect,
  expectEqual,
  failedResponse,
  noResponse,
  ofType,
  pendingResponse,
  probeTools,
  resultsOf,
  resultTexts,
  scriptedModel,
  textResponse,
} from '@cobbler/agent/testing';
import type { ExecutorCase } from './setup/case.ts';
import { group } from './setup/case.ts';

const the = group('cancel');

const never = <Value>(): Promise<Value> => new Promise<Value>(() => {});

/** Cancels a run that is idle; the run must end within 250 ms (P3). */
async function cancelled(setup: RunFixture, run: Run): Promise<RunResult> {
  await setup.advance(2000);
  const before = setup.elapsed;
  expectEqual(run.cancel(), true, 'whether the cancel was accepted');
  const result = await setup.until(run);
  const took = setup.elapsed - before;
  expect(took <= 250, `an end within 250 ms, found ${took}`);
  expectEqual([result.status, result.error?.kind], ['cancelled', 'aborted'], 'the outcome');
  return result;
}

/** A run that hangs and ignores its signal. */
function hanging(where: string, options: () => ExecutorOptions, rest: RunOptions = {}): ExecutorCase {
  return the(`a cancel ends a run that hangs in ${where} within 250 ms [P3]`, async (setup) => {
    await cancelled(setup, setup.run(options(), 'Go.', rest));
  });
}

const ask = () => ({ type: 'ask' }) as const;
const oneCall = () => scriptedModel([calls(['one', 'two'])]);

const hangingCases: readonly ExecutorCase[] = [
  hanging('a request', () => ({ agent: scriptedModel([noResponse()]) })),
  hanging('a tool', () => ({ agent: oneCall(), tools: [probeTools().tool('one', { execute: never })] })),
  hanging('parallel tools', () => ({
    agent: oneCall(),
    tools: ['one', 'two'].map((name) => probeTools().tool(name, { effect: 'read', execute: never })),
  })),
  hanging('the gate', () => ({ agent: oneCall(), tools: [probeTools().tool('one')], gate: never })),
  hanging('validate', () => ({
    agent: oneCall(),
    tools: [probeTools().tool('one', { validate: never })],
  })),
  hanging('the preview of an approval', () => ({
    agent: oneCall(),
    tools: [probeTools().tool('one', { preview: never })],
    gate: ask,
    attended: true,
  })),
  hanging('an approval', () => ({
    agent: oneCall(),
    tools: [probeTools().tool('one')],
    gate: ask,
    attended: true,
  })),
  hanging('a summary of the conversation', () => ({
    agent: scriptedModel([calls(['one'])]),
    tools: [probeTools().tool('one')],
    context: { maxTokens: 1, compact: summarize(never, { keep: 1 }) },
  })),
];

const momentCases: readonly ExecutorCase[] = [
  the(
    'a run that is cancelled before it starts makes no request and keeps its prompt [P3]',
    async (setup) => {
      const agent = scriptedModel([textResponse('Never asked.')]);
      const run = setup.run({ agent }, 'Go.', { signal: AbortSignal.abort() });
      const result = await setup.until(run);
      expectEqual([result.status, agent.requests.length], ['cancelled', 0], 'the outcome');
      expectEqual(result.messages.length, 1, 'the messages');
      expectEqual(
        setup.storedOf(run).map(({ type }) => type),
        ['user', 'stop_requested', 'finished'],
        'the events',
      );
    },
  ),
  the('a cancel right after the start is accepted [P3]', async (setup) => {
    const agent = scriptedModel([textResponse('Never asked.')]);
    const run = setup.run({ agent });
    expectEqual(run.cancel(), true, 'whether the cancel was accepted');
    expectEqual((await setup.until(run)).status, 'cancelled', 'the status');
    expectEqual(agent.requests.length, 0, 'the number of requests');
  }),
  the('a request that follows the signal can report its wasted tokens, which count [P14]', async (setup) => {
    const wasted = { inputTokens: 50, outputTokens: 5 };
    const error = new AgentError({ kind: 'aborted', message: 'Aborted.', attempts: 1, wasted });
    const agent = scriptedModel([
      (_request, { signal }) =>
        new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(error))),
    ]);
    const result = await cancelled(setup, setup.run({ agent }));
    expectEqual([result.metrics.wasted, result.metrics.attempts], [wasted, 1], 'the tokens counted');
  }),
  the('a response that arrives despite the signal is kept, but its calls do not run [P9]', async (setup) => {
    const { tool, names } = probeTools();
    const agent = scriptedModel([
      (_request, { signal }) =>
        new Promise((resolve) => signal?.addEventListener('abort', () => resolve(calls(['one'])))),
    ]);
    const result = await cancelled(setup, setup.run({ agent, tools: [tool('one')] }));
    expectEqual(
      [names.length, result.metrics.invocations],
      [0, 1],
      'the number of calls that ran and of responses',
    );
    expect(resultTexts(result.messages)[0]?.includes('cancelled') === true, 'the reason in the result');
  }),
  the('started calls have an unknown outcome, the others are marked as not run [P9, P12]', async (setup) => {
    const { tool } = probeTools();
    const run = setup.run({ agent: oneCall(), tools: [tool('one', { execute: never }), tool('two')] });
    const result = await cancelled(setup, run);
    const [first, second] = resultsOf(result.messages);
    expectEqual([first?.notRun, second?.notRun], [undefined, true], 'the results marked as not run');
    expect(resultTexts(result.messages)[0]?.includes('unknown') === true, 'a result with an unknown outcome');
    expect(resultTexts(result.messages)[1]?.includes('cancelled') === true, 'the reason in a result');
  }),
  the('a tool that stops at the signal can return its result [P3]', async (setup) => {
    const { tool } = probeTools();
    const one = tool('one', {
      execute: (_args, { signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve('stopped at line 3'))),
    });
    const result = await cancelled(setup, setup.run({ agent: oneCall(), tools: [one] }));
    expectEqual(resultTexts(result.messages)[0], 'stopped at line 3', 'the result');
  }),
  the('a cancel overrides the response that was just stored [P4]', async (setup) => {
    let run: Run | undefined;
    const onEvent = (event: RunEvent) => {
      if (event.type === 'assistant') expectEqual(run?.cancel(), true, 'whether the cancel was accepted');
    };
    run = setup.run({ agent: scriptedModel([textResponse('All done.')]) }, 'Go.', { onEvent });
    const result = await setup.until(run);
    expectEqual([result.status, result.text], ['cancelled', 'All done.'], 'the outcome');
  }),
  the('an accepted cancel always counts, at whatever moment it comes [P4]', async (setup) => {
    for (let moment = 0; moment < 80; moment += 1) {
      const { tool, names } = probeTools();
      const agent = scriptedModel([calls(['one']), textResponse('Done.')]);
      const run = setup.run({ agent, tools: [tool('one')] });
      for (let round = 0; round < moment; round += 1) await undefined;
      const accepted = run.cancel();
      const started = [agent.requests.length, names.length];
      const result = await setup.until(run);
      if (accepted)
        expectEqual(
          [agent.requests.length, names.length],
          started,
          `the work started after a cancel at moment ${moment}`,
        );
      expectEqual(result.status, accepted ? 'cancelled' : 'complete', `the status at moment ${moment}`);
    }
  }),
  the('a cancel between two turns prevents further requests [P3]', async (setup) => {
    let run: Run | undefined;
    const onEvent = (event: RunEvent) => void (event.type === 'tool_result' && run?.cancel());
    const agent = scriptedModel([calls(['one']), textResponse('Never asked.')]);
    run = setup.run({ agent, tools: [probeTools().tool('one')] }, 'Go.', { onEvent });
    const result = await setup.until(run);
    expectEqual([result.status, agent.requests.length], ['cancelled', 1], 'the outcome');
  }),
  the('a cancel in the middle of a batch skips the rest [P3]', async (setup) => {
    const { tool, names } = probeTools();
    let run: Run | undefined;
    const onEvent = (event: RunEvent) => void (event.type === 'tool_result' && run?.cancel());
    run = setup.run({ agent: oneCall(), tools: [tool('one'), tool('two')] }, 'Go.', { onEvent });
    await setup.until(run);
    expectEqual(names, ['one'], 'the tools that ran');
  }),
  the('a cancel after the end is not accepted and changes nothing', async (setup) => {
    const run = setup.run({ agent: scriptedModel([textResponse('Done.')]) });
    await setup.until(run);
    const before = setup.eventsOf(run).length;
    expectEqual(run.cancel(), false, 'whether the cancel was accepted');
    await setup.advance(1000);
    expectEqual(setup.eventsOf(run).length, before, 'the number of events');
  }),
  the('a second cancel changes nothing', async (setup) => {
    const run = setup.run({ agent: scriptedModel([noResponse()]) });
    await setup.advance(2000);
    expectEqual([run.cancel(), run.cancel()], [true, true], 'whether the cancels were accepted');
    await setup.until(run);
    expectEqual(ofType(setup.storedOf(run), 'stop_requested').length, 1, 'the stops recorded');
  }),
  the('agent events after the cancel are ignored [P3]', async (setup) => {
    let speak: (() => void) | undefined;
    const agent = scriptedModel([
      (_request, { emit }) => {
        speak = () => emit?.({ type: 'text_delta', index: 0, text: 'too late' });
        return never();
      },
    ]);
    const run = setup.run({ agent });
    await cancelled(setup, run);
    speak?.();
    expect(!setup.eventsOf(run).some(({ type }) => type === 'text_delta'), 'no late delta');
  }),
];

const signalCases: readonly ExecutorCase[] = [
  the('the signal of the caller cancels the run and reaches request and tool [P3]', async (setup) => {
    const { tool, runs } = probeTools();
    const stop = new AbortController();
    const options = { agent: oneCall(), tools: [tool('one', { execute: never })] };
    const run = setup.run(options, 'Go.', { signal: stop.signal });
    await setup.advance(2000);
    stop.abort();
    expectEqual((await setup.until(run)).status, 'cancelled', 'the status');
    expect(runs[0]?.context.signal.aborted === true, 'the signal of the tool to be aborted');
  }),
  the('a deadline of the caller ends the run as timeout [P4]', async (setup) => {
    const stop = new AbortController();
    const run = setup.run({ agent: scriptedModel([pendingResponse(never())]) }, 'Go.', {
      signal: stop.signal,
    });
    await setup.advance(2000);
    stop.abort(new DOMException('The deadline has passed.', 'TimeoutError'));
    const result = await setup.until(run);
    expectEqual([result.status, result.error?.kind], ['timeout', 'timeout'], 'the outcome');
  }),
  the('a run that is cancelled and also fails is cancelled [P4]', async (setup) => {
    const agent = scriptedModel([
      (_request, { signal }) =>
        new Promise((_resolve, reject) =>
          signal?.addEventListener('abort', () =>
            reject(new AgentError({ kind: 'network', message: 'reset' })),
          ),
        ),
    ]);
    expectEqual((await cancelled(setup, setup.run({ agent }))).status, 'cancelled', 'the status');
  }),
  the('a cancelled session that crashed before its end stays cancelled [P4]', async (setup) => {
    const run = setup.run({ agent: scriptedModel([noResponse()]) }, 'Go.', { sessionId: 'one' });
    await cancelled(setup, run);
    const stored = await setup.until(Promise.resolve(setup.store.read('one')));
    const epoch = await setup.until(Promise.resolve(setup.store.claim('two')));
    await setup.until(
      Promise.resolve(
        setup.store.append(
          'two',
          stored.slice(0, -1).map((event) => ({ ...event, id: `two-${event.seq}` })),
          { epoch },
        ),
      ),
    );
    const agent = scriptedModel([textResponse('Revived.')]);
    const result = await setup.until(setup.resume({ agent }, 'two'));
    expectEqual([result.status, agent.requests.length], ['cancelled', 0], 'the outcome');
  }),
  the('a run whose request failed cannot be cancelled', async (setup) => {
    const run = setup.run({ agent: scriptedModel([failedResponse(new Error('gone'))]) });
    await setup.until(run);
    expectEqual(run.cancel(), false, 'whether the cancel was accepted');
  }),
];

export const cancelCases: readonly ExecutorCase[] = [...hangingCases, ...momentCases, ...signalCases];
