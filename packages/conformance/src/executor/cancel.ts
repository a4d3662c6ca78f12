import type { ExecutorOptions, Run, RunEvent, RunOptions, RunResult } from '@cobbler/agent';
import { AgentError, summarize } from '@cobbler/agent';
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
import type { ExecutorCase } from './setup/cases.ts';
import { group } from './setup/cases.ts';

const the = group('cancel');

const never = <Value>(): Promise<Value> => new Promise<Value>(() => {});

/** Cancels a run that has come to rest; it must give control back within 250 ms (promise 3). */
async function cancelled(stage: RunFixture, run: Run): Promise<RunResult> {
  await stage.advance(2000);
  const before = stage.elapsed;
  expectEqual(run.cancel(), true, 'whether the cancel was heard');
  const result = await stage.until(run);
  const took = stage.elapsed - before;
  expect(took <= 250, `control back within 250 ms, found ${took}`);
  expectEqual([result.status, result.error?.kind], ['cancelled', 'aborted'], 'the end');
  return result;
}

/** A run that stands still somewhere and does not heed its signal. */
function hanging(where: string, options: () => ExecutorOptions, rest: RunOptions = {}): ExecutorCase {
  return the(`a run that hangs in ${where} gives control back within 250 ms [P3]`, async (stage) => {
    await cancelled(stage, stage.run(options(), 'Go.', rest));
  });
}

const ask = () => ({ type: 'ask' }) as const;
const oneCall = () => scriptedModel([calls(['one', 'two'])]);

const hangingCases: readonly ExecutorCase[] = [
  hanging('a request', () => ({ agent: scriptedModel([noResponse()]) })),
  hanging('a tool', () => ({ agent: oneCall(), tools: [probeTools().tool('one', { execute: never })] })),
  hanging('tools that run together', () => ({
    agent: oneCall(),
    tools: ['one', 'two'].map((name) => probeTools().tool(name, { effect: 'read', execute: never })),
  })),
  hanging('the gate', () => ({ agent: oneCall(), tools: [probeTools().tool('one')], gate: never })),
  hanging('the check of arguments', () => ({
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
    'a run that is cancelled before it starts makes no request, and its prompt is kept [P3]',
    async (stage) => {
      const agent = scriptedModel([textResponse('Never asked.')]);
      const run = stage.run({ agent }, 'Go.', { signal: AbortSignal.abort() });
      const result = await stage.until(run);
      expectEqual([result.status, agent.requests.length], ['cancelled', 0], 'the end');
      expectEqual(result.messages.length, 1, 'the messages');
      expectEqual(
        stage.storedOf(run).map(({ type }) => type),
        ['user', 'stop_requested', 'finished'],
        'the events',
      );
    },
  ),
  the('a cancel right after the start is heard [P3]', async (stage) => {
    const agent = scriptedModel([textResponse('Never asked.')]);
    const run = stage.run({ agent });
    expectEqual(run.cancel(), true, 'whether it was heard');
    expectEqual((await stage.until(run)).status, 'cancelled', 'the status');
    expectEqual(agent.requests.length, 0, 'the number of requests');
  }),
  the('a request that heeds the signal is heard out: what it wasted is counted [P14]', async (stage) => {
    const wasted = { inputTokens: 50, outputTokens: 5 };
    const error = new AgentError({ kind: 'aborted', message: 'Aborted.', attempts: 1, wasted });
    const agent = scriptedModel([
      (_request, { signal }) =>
        new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(error))),
    ]);
    const result = await cancelled(stage, stage.run({ agent }));
    expectEqual([result.metrics.wasted, result.metrics.attempts], [wasted, 1], 'what is counted');
  }),
  the('an answer that comes in spite of the signal is kept, its calls are not run [P9]', async (stage) => {
    const { tool, names } = probeTools();
    const agent = scriptedModel([
      (_request, { signal }) =>
        new Promise((resolve) => signal?.addEventListener('abort', () => resolve(calls(['one'])))),
    ]);
    const result = await cancelled(stage, stage.run({ agent, tools: [tool('one')] }));
    expectEqual([names.length, result.metrics.invocations], [0, 1], 'what came of it');
    expect(resultTexts(result.messages)[0]?.includes('cancelled') === true, 'the reason in the result');
  }),
  the(
    'what had begun says that its outcome is unknown, what had not says that it was not run [P9, P12]',
    async (stage) => {
      const { tool } = probeTools();
      const run = stage.run({ agent: oneCall(), tools: [tool('one', { execute: never }), tool('two')] });
      const result = await cancelled(stage, run);
      const [first, second] = resultsOf(result.messages);
      expectEqual([first?.notRun, second?.notRun], [undefined, true], 'what was not run');
      expect(resultTexts(result.messages)[0]?.includes('unknown') === true, 'the unknown outcome');
      expect(resultTexts(result.messages)[1]?.includes('cancelled') === true, 'the reason');
    },
  ),
  the('a tool that stops at the signal is heard [P3]', async (stage) => {
    const { tool } = probeTools();
    const one = tool('one', {
      execute: (_args, { signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve('stopped at line 3'))),
    });
    const result = await cancelled(stage, stage.run({ agent: oneCall(), tools: [one] }));
    expectEqual(resultTexts(result.messages)[0], 'stopped at line 3', 'the result');
  }),
  the('a cancel beats the answer that was just stored [P4]', async (stage) => {
    let run: Run | undefined;
    const onEvent = (event: RunEvent) => {
      if (event.type === 'assistant') expectEqual(run?.cancel(), true, 'whether the cancel was heard');
    };
    run = stage.run({ agent: scriptedModel([textResponse('All done.')]) }, 'Go.', { onEvent });
    const result = await stage.until(run);
    expectEqual([result.status, result.text], ['cancelled', 'All done.'], 'the end');
  }),
  the('a cancel that was heard always counts, at whatever moment it comes [P4]', async (stage) => {
    for (let moment = 0; moment < 80; moment += 1) {
      const { tool, names } = probeTools();
      const agent = scriptedModel([calls(['one']), textResponse('Done.')]);
      const run = stage.run({ agent, tools: [tool('one')] });
      for (let round = 0; round < moment; round += 1) await undefined;
      const heard = run.cancel();
      const begun = [agent.requests.length, names.length];
      const result = await stage.until(run);
      if (heard)
        expectEqual(
          [agent.requests.length, names.length],
          begun,
          `what began after a cancel at moment ${moment}`,
        );
      expectEqual(result.status, heard ? 'cancelled' : 'complete', `the status at moment ${moment}`);
    }
  }),
  the('a cancel between two turns makes no further request [P3]', async (stage) => {
    let run: Run | undefined;
    const onEvent = (event: RunEvent) => void (event.type === 'tool_result' && run?.cancel());
    const agent = scriptedModel([calls(['one']), textResponse('Never asked.')]);
    run = stage.run({ agent, tools: [probeTools().tool('one')] }, 'Go.', { onEvent });
    const result = await stage.until(run);
    expectEqual([result.status, agent.requests.length], ['cancelled', 1], 'the end');
  }),
  the('a cancel in the middle of a batch leaves the rest unrun [P3]', async (stage) => {
    const { tool, names } = probeTools();
    let run: Run | undefined;
    const onEvent = (event: RunEvent) => void (event.type === 'tool_result' && run?.cancel());
    run = stage.run({ agent: oneCall(), tools: [tool('one'), tool('two')] }, 'Go.', { onEvent });
    await stage.until(run);
    expectEqual(names, ['one'], 'the tools that ran');
  }),
  the('after the end a cancel changes nothing and says so', async (stage) => {
    const run = stage.run({ agent: scriptedModel([textResponse('Done.')]) });
    await stage.until(run);
    const before = stage.eventsOf(run).length;
    expectEqual(run.cancel(), false, 'whether it was heard');
    await stage.advance(1000);
    expectEqual(stage.eventsOf(run).length, before, 'the number of events');
  }),
  the('a second cancel adds nothing', async (stage) => {
    const run = stage.run({ agent: scriptedModel([noResponse()]) });
    await stage.advance(2000);
    expectEqual([run.cancel(), run.cancel()], [true, true], 'whether they were heard');
    await stage.until(run);
    expectEqual(ofType(stage.storedOf(run), 'stop_requested').length, 1, 'the stops recorded');
  }),
  the('nothing that the agent tells after the cancel is shown [P3]', async (stage) => {
    let speak: (() => void) | undefined;
    const agent = scriptedModel([
      (_request, { emit }) => {
        speak = () => emit?.({ type: 'text_delta', index: 0, text: 'too late' });
        return never();
      },
    ]);
    const run = stage.run({ agent });
    await cancelled(stage, run);
    speak?.();
    expect(!stage.eventsOf(run).some(({ type }) => type === 'text_delta'), 'no late delta');
  }),
];

const signalCases: readonly ExecutorCase[] = [
  the('the signal of the caller cancels the run and reaches request and tool [P3]', async (stage) => {
    const { tool, runs } = probeTools();
    const stop = new AbortController();
    const options = { agent: oneCall(), tools: [tool('one', { execute: never })] };
    const run = stage.run(options, 'Go.', { signal: stop.signal });
    await stage.advance(2000);
    stop.abort();
    expectEqual((await stage.until(run)).status, 'cancelled', 'the status');
    expect(runs[0]?.context.signal.aborted === true, 'the signal of the tool aborted');
  }),
  the('a deadline of the caller ends the run as timeout [P4]', async (stage) => {
    const stop = new AbortController();
    const run = stage.run({ agent: scriptedModel([pendingResponse(never())]) }, 'Go.', {
      signal: stop.signal,
    });
    await stage.advance(2000);
    stop.abort(new DOMException('The deadline has passed.', 'TimeoutError'));
    const result = await stage.until(run);
    expectEqual([result.status, result.error?.kind], ['timeout', 'timeout'], 'the end');
  }),
  the('a cancelled run that failed as well is cancelled [P4]', async (stage) => {
    const agent = scriptedModel([
      (_request, { signal }) =>
        new Promise((_resolve, reject) =>
          signal?.addEventListener('abort', () =>
            reject(new AgentError({ kind: 'network', message: 'reset' })),
          ),
        ),
    ]);
    expectEqual((await cancelled(stage, stage.run({ agent }))).status, 'cancelled', 'the status');
  }),
  the('a cancelled session that crashed before its end stays cancelled [P4]', async (stage) => {
    const run = stage.run({ agent: scriptedModel([noResponse()]) }, 'Go.', { sessionId: 'one' });
    await cancelled(stage, run);
    const stored = await stage.until(Promise.resolve(stage.store.read('one')));
    const epoch = await stage.until(Promise.resolve(stage.store.claim('two')));
    await stage.until(
      Promise.resolve(
        stage.store.append(
          'two',
          stored.slice(0, -1).map((event) => ({ ...event, id: `two-${event.seq}` })),
          { epoch },
        ),
      ),
    );
    const agent = scriptedModel([textResponse('Revived.')]);
    const result = await stage.until(stage.resume({ agent }, 'two'));
    expectEqual([result.status, agent.requests.length], ['cancelled', 0], 'the end');
  }),
  the('a failed request leaves nothing to cancel', async (stage) => {
    const run = stage.run({ agent: scriptedModel([failedResponse(new Error('gone'))]) });
    await stage.until(run);
    expectEqual(run.cancel(), false, 'whether it was heard');
  }),
];

export const cancelCases: readonly ExecutorCase[] = [...hangingCases, ...momentCases, ...signalCases];
