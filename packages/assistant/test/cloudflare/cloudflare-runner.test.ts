import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Runtime } from '@cobbler/agent';
import type { Workflow } from '@cobbler/agent/runner';
import { fakeRuntime } from '@cobbler/agent/testing';
import type { Counter, RunnerEnvironment } from '@cobbler/conformance';
import { contractWorkflow, describeContract, runnerContract } from '@cobbler/conformance';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { CloudflareRunner } from '../../src/cloudflare/cloudflare-runner.ts';
import { cloudflareRunner } from '../../src/cloudflare/cloudflare-runner.ts';
import { runWorkflow } from '../../src/cloudflare/workflow-run.ts';
import { sqliteSql } from '../../src/sqlite/sqlite-sql.ts';
import type { InstanceWork } from '../support/fake-workflow.ts';
import { FakeInstance, FakeWorkflow } from '../support/fake-workflow.ts';

interface Stage {
  readonly runner: CloudflareRunner;
  readonly binding: FakeWorkflow;
  readonly runtime: Runtime;
  /** Executes a run a second time, as the engine does if it loses track of the first execution. */
  live(runId: string): Promise<void>;
  advance(ms: number): Promise<void>;
  dispose(): void;
}

/** Creates the runner on an in-memory engine, with a clock that only the test advances. */
function stage(workflow: Workflow): Stage {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-workflows-'));
  const sql = sqliteSql({ file: join(folder, 'runs.db') });
  const clock = fakeRuntime();
  // Digests resolve immediately, so that progress between clock steps is the same on any machine.
  const digest = async (text: string) => createHash('sha256').update(text).digest('hex');
  const runtime: Runtime = { ...clock, digest };
  const work: InstanceWork = (params, given) => {
    // As in the real engine, where it is a stub of a remote object.
    const step = Object.assign(() => {}, {
      do: given.do.bind(given),
      waitForEvent: given.waitForEvent.bind(given),
    });
    return runWorkflow({ params, step, workflow, sql, binding, runtime, lookMs: 20, pollMs: 120_000 });
  };
  const binding: FakeWorkflow = new FakeWorkflow(runtime, work);
  return {
    live: (runId) => work({ runId }, new FakeInstance(runtime)),
    runner: cloudflareRunner({ binding, sql, runtime, lookMs: 10 }),
    binding,
    runtime,
    async advance(ms) {
      // Lets pending work progress as far as possible before and after the clock advances.
      for (let round = 0; round < 12; round += 1) await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(ms);
      for (let round = 0; round < 12; round += 1) await new Promise((resolve) => setImmediate(resolve));
    },
    dispose() {
      sql.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

class Lines implements Counter {
  readonly #lines = new Map<string, string[]>();

  async add(name: string, text: string): Promise<number> {
    const lines = this.#lines.get(name) ?? [];
    this.#lines.set(name, lines);
    return lines.push(text);
  }

  async list(name: string): Promise<readonly string[]> {
    return [...(this.#lines.get(name) ?? [])];
  }

  async reached(name: string): Promise<void> {
    while (!this.#lines.has(name)) await new Promise((resolve) => setImmediate(resolve));
  }
}

const elsewhere = 'shown on the real engine: npm run verify -- worker';

const stand: RunnerEnvironment = {
  name: 'cloudflare',
  lacks: {
    reopen: elsewhere,
    crash: elsewhere,
    close: 'runs belong to the engine: closing a runner stops no run',
    timers: 'the engine uses its own timers',
  },
  place() {
    const lines = new Lines();
    const { runner, runtime, advance, dispose } = stage(contractWorkflow(lines));
    return {
      counter: lines,
      open: async () => runner,
      advance,
      now: runtime.now,
      dispose: async () => dispose(),
    };
  },
};

describe('the runner on an engine with the limits of the deployed engine', () => {
  describeContract(runnerContract(stand), { describe, it });
});

/** Creates a runner whose runs wait for a signal and return its value. */
function waiting(): Stage {
  const made = stage(async (_, steps) => (await steps.waitFor('go')) ?? null);
  onTestFinished(() => made.dispose());
  return made;
}

async function settled({ advance, runner }: Stage, runId: string): Promise<string> {
  await advance(40);
  return (await runner.status(runId)).state;
}

describe('recovery and cleanup of runs', () => {
  it('sweep starts a run that was recorded but never started', async () => {
    const made = waiting();
    made.binding.create = async () => {
      throw new Error('the engine is away');
    };
    await expect(made.runner.start(1, { runId: 'run-1' })).rejects.toMatchObject({ retryable: true });
    expect(await settled(made, 'run-1')).toBe('queued');
    Reflect.deleteProperty(made.binding, 'create');
    expect(await made.runner.sweep(0)).toBe(1);
    expect(await settled(made, 'run-1')).toBe('running');
  });

  it('a repeated start request starts a run that was recorded but never started', async () => {
    const made = waiting();
    made.binding.create = async () => {
      throw new Error('the engine is away');
    };
    await expect(made.runner.start(1, { runId: 'run-1' })).rejects.toThrow('the engine is away');
    Reflect.deleteProperty(made.binding, 'create');
    expect(await made.runner.start(1, { runId: 'run-1' })).toBe(false);
    expect(await settled(made, 'run-1')).toBe('running');
  });

  it('sweep fails a run that the engine abandoned, and the next run of its key starts', async () => {
    const made = waiting();
    await made.runner.start(1, { runId: 'run-1', key: 'chat' });
    await made.runner.start(2, { runId: 'run-2', key: 'chat' });
    expect(await settled(made, 'run-2')).toBe('queued');
    const first = made.binding.instances.get('run-1');
    if (first !== undefined) first.state = 'errored';
    await made.runner.sweep(0);
    expect(await made.runner.status('run-1')).toMatchObject({ state: 'failed', error: { code: 'engine' } });
    expect(await settled(made, 'run-2')).toBe('running');
  });

  it('a run checks for its signal again after its wake event was lost', async () => {
    const made = waiting();
    await made.runner.start(1, { runId: 'run-1' });
    await made.advance(20);
    const instance = made.binding.instances.get('run-1');
    if (instance !== undefined) instance.sendEvent = async () => {};
    await made.runner.signal('run-1', 'go', 'came');
    expect(await settled(made, 'run-1')).toBe('running');
    await made.advance(121_000);
    expect(await settled(made, 'run-1')).toBe('done');
  });

  it('a running run is not woken when queued runs of its key end', async () => {
    const made = waiting();
    for (const runId of ['run-1', 'run-2', 'run-3', 'run-4'])
      await made.runner.start(1, { runId, key: 'chat' });
    expect(await settled(made, 'run-4')).toBe('queued');
    const send = vi.spyOn(made.binding.instances.get('run-1') ?? expect.fail(), 'sendEvent');
    for (const runId of ['run-2', 'run-3']) await made.runner.cancel(runId);
    expect(await settled(made, 'run-3')).toBe('cancelled');
    expect(send).not.toHaveBeenCalled();
    await made.runner.cancel('run-1');
    expect(await settled(made, 'run-4')).toBe('running');
  });

  it('prune deletes ended runs and keeps open runs', async () => {
    const made = waiting();
    await made.runner.start(1, { runId: 'run-1' });
    await made.runner.start(2, { runId: 'run-2' });
    await made.runner.signal('run-1', 'go', null);
    expect(await settled(made, 'run-1')).toBe('done');
    expect(await made.runner.prune(made.runtime.now() + 1)).toBe(1);
    expect(await settled(made, 'run-1')).toBe('unknown');
    expect(await settled(made, 'run-2')).toBe('running');
  });
});

describe('an execution that was replaced', () => {
  it('does not end the run, but the later execution does', async () => {
    const ends: PromiseWithResolvers<string>[] = [];
    const made = stage(async () => {
      const end = Promise.withResolvers<string>();
      ends.push(end);
      return await end.promise;
    });
    onTestFinished(() => made.dispose());
    await made.runner.start(1, { runId: 'run-1' });
    await made.advance(0);
    const later = made.live('run-1');
    await made.advance(0);
    ends[0]?.resolve('of the first life');
    await made.advance(0);
    expect(await made.runner.status('run-1')).toEqual({ state: 'running' });
    ends[1]?.resolve('of the second life');
    await made.advance(0);
    expect(await made.runner.status('run-1')).toEqual({ state: 'done', output: 'of the second life' });
    await made.advance(5000);
    await later;
  });

  it('does not start a step', async () => {
    const ran: string[] = [];
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const made = stage(async (_, steps) => {
      await steps.run('held', () => held);
      await steps.run('late', () => ran.push('late')).catch((error) => ran.push(error.code));
      return null;
    });
    onTestFinished(() => made.dispose());
    await made.runner.start(1, { runId: 'run-1' });
    await made.advance(0);
    const later = made.live('run-1');
    await made.advance(0);
    release();
    await made.advance(40);
    await later;
    expect(ran.toSorted()).toEqual(['fenced', 'late']);
  });
});

describe('the engine', () => {
  it('records one step per workflow call, whose result contains only what the run waits for', async () => {
    let calls = 0;
    const made = stage(async (_, steps) => {
      calls += 1;
      await steps.run('large', () => 'x'.repeat(2_000_000));
      if (calls < 3) await steps.checkpoint();
      return 'y'.repeat(1_000_000);
    });
    onTestFinished(() => made.dispose());
    await made.runner.start(1, { runId: 'run-1' });
    expect(await settled(made, 'run-1')).toBe('done');
    expect([...(made.binding.instances.get('run-1')?.kept ?? [])]).toEqual([
      ['call/1', '{"waits":[]}'],
      ['call/2', '{"waits":[]}'],
      ['call/3', '{"over":true}'],
    ]);
  });

  it('receives the digest of a run id that is not a valid instance id', async () => {
    const made = stage(async (_, steps) => steps.run('only', () => 1));
    onTestFinished(() => made.dispose());
    await made.runner.start(1, { runId: 'batch' });
    await made.runner.start(1, { runId: 'a:b.c' });
    expect(await settled(made, 'batch')).toBe('done');
    expect(await settled(made, 'a:b.c')).toBe('done');
    for (const id of made.binding.instances.keys()) expect(id).toMatch(/^r-[0-9a-f]{64}$/);
  });
});
