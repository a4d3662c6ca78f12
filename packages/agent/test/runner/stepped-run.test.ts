import { describe, expect, it } from 'vitest';
import type { ApprovalRequestedEvent } from '../../src/events/event.ts';
import { Executor } from '../../src/loop/executor.ts';
import type { ExecutorOptions } from '../../src/run/options.ts';
import type { RunResult } from '../../src/run/run.ts';
import { memoryRunner } from '../../src/runner/memory-runner.ts';
import type { Workflow } from '../../src/runner/runner.ts';
import type { SteppedTask } from '../../src/runner/stepped-run.ts';
import { approvalSignal, runInSteps } from '../../src/runner/stepped-run.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { fakeRuntime } from '../../src/testing/index.ts';
import { probeTools } from '../../src/testing/probe-tools.ts';
import type { ModelStep } from '../../src/testing/scripted-model.ts';
import { calls, scriptedModel, textResponse } from '../../src/testing/scripted-model.ts';
import type { Json } from '../../src/values/json.ts';

/** Creates a runner whose workflow runs one task, and records steps and results. */
function scene(
  script: readonly ModelStep[],
  rest: Partial<SteppedTask> = {},
  more: Partial<ExecutorOptions> = {},
) {
  const kit = probeTools();
  const store = memoryStore();
  const agent = scriptedModel(script);
  const runtime = fakeRuntime();
  const gate = () => ({ type: rest.ask === undefined ? 'allow' : 'ask' }) as const;
  const tools = [kit.tool('a'), kit.tool('b')];
  const executor = new Executor({ agent, tools, gate, store, runtime, ...more });
  const names: string[] = [];
  const results: RunResult[] = [];
  const workflow: Workflow = async (_input, steps) => {
    const noted: typeof steps = {
      runId: steps.runId,
      signal: steps.signal,
      waitFor: (name, options) => steps.waitFor(name, options),
      checkpoint: () => steps.checkpoint(),
      run: (name, perform, settings) => {
        names.push(name);
        return steps.run(name, perform, settings);
      },
    };
    const task = { executor, store, sessionId: 'task-1', prompt: 'Go.', ...rest };
    const result = await runInSteps(noted, task);
    results.push(result);
    return result.status;
  };
  const runner = memoryRunner({ workflow, runtime });
  return { kit, store, agent, runtime, runner, names, results };
}

const nothing: Json = null;

describe('a run in steps', () => {
  it('has a step for each request and each call [P9]', async () => {
    const { runner, names, kit, results } = scene([calls(['a', 'b']), textResponse('Done.')]);
    await runner.start(nothing, { runId: 'r1' });
    expect(await runner.result('r1')).toBe('complete');
    expect(names).toEqual(['act', 'act', 'act', 'act']);
    expect(kit.names).toEqual(['a', 'b']);
    expect(results[0]).toMatchObject({ status: 'complete', text: 'Done.', runId: 'r1' });
    await runner.close();
  });

  it('requests approval in its own step, waits for the decision, and runs an approved call', async () => {
    const asked: ApprovalRequestedEvent[] = [];
    const { runner, kit, results, names } = scene([calls(['a']), textResponse('Done.')], {
      ask: (request) => void asked.push(request),
    });
    await runner.start(nothing, { runId: 'r1' });
    while (asked.length === 0) await moment();
    expect(kit.names).toEqual([]);
    const name = approvalSignal(asked[0]?.approvalId ?? '');
    expect(await runner.signal('r1', name, { decision: 'allow' })).toBe(true);
    expect(await runner.signal('r1', name, { decision: 'deny' })).toBe(false);
    expect(await runner.result('r1')).toBe('complete');
    expect(kit.names).toEqual(['a']);
    expect(results).toHaveLength(1);
    expect(names).toEqual(['act', 'act', `ask/${asked[0]?.approvalId}`, 'act', 'act']);
    await runner.close();
  });

  it('treats a missing or unclear decision as a denial', async () => {
    for (const said of [undefined, 'yes', { decision: 'maybe' }, { decision: 'deny', message: 'Not now.' }]) {
      const asked: ApprovalRequestedEvent[] = [];
      const { runner, kit, runtime, store } = scene([calls(['a']), textResponse('Done.')], {
        ask: (request) => void asked.push(request),
        approvalMs: 60_000,
      });
      await runner.start(nothing, { runId: 'r1' });
      while (asked.length === 0) await moment();
      if (said === undefined) await runtime.advance(60_001);
      else await runner.signal('r1', approvalSignal(asked[0]?.approvalId ?? ''), said);
      expect(await runner.result('r1')).toBe('complete');
      expect(kit.names).toEqual([]);
      const decided = (await store.read('task-1')).filter(({ type }) => type === 'approval_decided');
      expect(decided).toMatchObject([{ decision: 'deny' }]);
      await runner.close();
    }
  });

  it.each([0.5, -1, '5'])('treats an answer with the invalid amount %j as a denial', async (more) => {
    const asked: ApprovalRequestedEvent[] = [];
    const usage = { inputTokens: 9_000, outputTokens: 100 };
    const script = [calls(['a'], { usage }), textResponse('Done.')];
    const gate = () => ({ type: 'allow' }) as const;
    const limited = { limits: { tokens: 9_500 }, onReached: 'ask', gate } as const;
    const ask = (request: ApprovalRequestedEvent) => void asked.push(request);
    const { runner, store } = scene(script, { ask }, limited);
    await runner.start(nothing, { runId: 'r1' });
    while (asked.length === 0) await moment();
    await runner.signal('r1', approvalSignal(asked[0]?.approvalId ?? ''), { decision: 'allow', more });
    expect(await runner.result('r1')).toBe('limit');
    const decided = (await store.read('task-1')).filter(({ type }) => type === 'approval_decided');
    const message = `answer.more is invalid: it is ${more}. Use a whole number of tokens above 0.`;
    expect(decided).toMatchObject([{ decision: 'deny', message }]);
    await runner.close();
  });

  it('retries an approval request that fails', async () => {
    let tries = 0;
    const { runner, runtime } = scene([calls(['a']), textResponse('Done.')], {
      approvalMs: 1_000,
      ask: () => {
        tries += 1;
        if (tries < 3) throw new Error('out of reach');
      },
    });
    await runner.start(nothing, { runId: 'r1' });
    while ((await runner.status('r1')).state !== 'done') {
      await runtime.advance(500);
      await moment();
    }
    expect(tries).toBe(3);
    await runner.close();
  });

  it('ends as waiting with whenAsked "end"', async () => {
    const { runner, kit } = scene([calls(['a']), textResponse('Done.')], { ask: () => {}, whenAsked: 'end' });
    await runner.start(nothing, { runId: 'r1' });
    expect(await runner.result('r1')).toBe('waiting');
    expect(kit.names).toEqual([]);
    await runner.close();
  });
});

/** Yields to the event loop, because digests are computed outside it. */
function moment(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
