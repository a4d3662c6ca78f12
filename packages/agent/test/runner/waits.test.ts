import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Executor } from '../../src/loop/executor.ts';
import { sqliteRunner } from '../../src/node/sqlite-runner/sqlite-runner.ts';
import { memoryRunner } from '../../src/runner/memory-runner.ts';
import type { Runner, Workflow } from '../../src/runner/runner.ts';
import { runInSteps, waitSignal } from '../../src/runner/stepped-run.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import type { FakeRuntime } from '../../src/testing/index.ts';
import { fakeRuntime } from '../../src/testing/index.ts';
import { probeTools } from '../../src/testing/probe-tools.ts';
import { calls, scriptedModel, textResponse } from '../../src/testing/scripted-model.ts';

const minutes = 60_000;
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cobbler-waits-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Lets promises and file writes settle without advancing the clock. */
async function settled(): Promise<void> {
  for (let round = 0; round < 60; round += 1) await new Promise((resolve) => setImmediate(resolve));
}

/**
 * Creates a run with a tool call that waits ten minutes. `open` returns a runner like that of a
 * newly started process.
 */
function scene(kind: 'memory' | 'sqlite') {
  // The fake clock does not measure the time of a real digest.
  const digest = async (text: string) => createHash('sha256').update(text).digest('hex');
  const runtime: FakeRuntime = { ...fakeRuntime(), digest };
  const kit = probeTools();
  const store = memoryStore({ now: runtime.now });
  const agent = scriptedModel([calls(['wait', 'look']), textResponse('Done.')]);
  const waitUntil = (_args: object, { now }: { readonly now: number }) => now + 10 * minutes;
  const tools = [kit.tool('wait', { effect: 'read', waitUntil }), kit.tool('look', { effect: 'read' })];
  const open = (): Runner => {
    const executor = new Executor({ agent, tools, store, runtime });
    const workflow: Workflow = async (_input, steps) =>
      (await runInSteps(steps, { executor, store, sessionId: 's', prompt: 'Go.' })).status;
    return kind === 'memory'
      ? memoryRunner({ workflow, runtime })
      : sqliteRunner({ file: join(folder, 'runs.db'), workflow, runtime });
  };
  /** Advances the clock in steps, so that a process can act in between. */
  const pass = async (ms: number) => {
    const end = runtime.now() + ms;
    await settled();
    while (runtime.now() < end) {
      await runtime.advance(Math.min(minutes, end - runtime.now()));
      await settled();
    }
  };
  const types = async () => (await store.read('s')).map(({ type }) => type);
  return { runtime, kit, store, open, pass, types };
}

const whole = [
  'user',
  'assistant',
  'tool_started',
  'tool_result',
  'tool_started',
  'tool_result',
  'assistant',
];

describe.each(['memory', 'sqlite'] as const)('a waiting call, with the runner in %s', (kind) => {
  it('runs at its time, and the log does not grow until then [P30]', async () => {
    const { open, pass, kit, types } = scene(kind);
    const runner = open();
    await runner.start(null, { runId: 'r1' });
    await pass(9 * minutes);
    expect(kit.names).toEqual([]);
    expect(await types()).toEqual(whole.slice(0, 3));
    expect(await runner.status('r1')).toEqual({ state: 'running' });
    await pass(minutes);
    expect(kit.names).toEqual(['wait', 'look']);
    expect(kit.runs[0]?.context.wait?.endedBy).toBe('time');
    expect(await runner.result('r1')).toBe('complete');
    expect(await types()).toEqual([...whole, 'finished']);
    await runner.close();
  });

  it('ends early with a signal', async () => {
    const { open, pass, kit, store } = scene(kind);
    const runner = open();
    await runner.start(null, { runId: 'r1' });
    await pass(minutes);
    const started = (await store.read('s')).find(({ type }) => type === 'tool_started');
    expect(await runner.signal('r1', waitSignal(started?.seq ?? 0), null)).toBe(true);
    await pass(1000);
    expect(kit.runs[0]?.context.wait?.endedBy).toBe('message');
    expect(await runner.result('r1')).toBe('complete');
    await runner.close();
  });

  it('does not run if the run is cancelled while it waits [P3, P30]', async () => {
    const { open, pass, kit } = scene(kind);
    const runner = open();
    await runner.start(null, { runId: 'r1' });
    await pass(minutes);
    expect(await runner.cancel('r1')).toBe(true);
    await pass(20 * minutes);
    expect(await runner.status('r1')).toEqual({ state: 'cancelled' });
    expect(kit.names).toEqual([]);
    await runner.close();
  });
});

describe('a waiting call whose process ends', () => {
  it('runs at its original time in the next process [P9, P30]', async () => {
    const { open, pass, kit, types, runtime } = scene('sqlite');
    const started = runtime.now();
    const first = open();
    await first.start(null, { runId: 'r1' });
    await pass(3 * minutes);
    await first.close();
    await pass(4 * minutes);
    const second = open();
    await pass(2 * minutes);
    expect(kit.names).toEqual([]);
    await pass(minutes);
    expect(kit.names).toEqual(['wait', 'look']);
    expect((kit.runs[0]?.context.wait?.until ?? 0) - started).toBe(10 * minutes);
    expect(await second.result('r1')).toBe('complete');
    expect(await types()).toEqual([...whole, 'finished']);
    await second.close();
  });

  it('runs immediately in the next process if its time has passed', async () => {
    const { open, pass, kit } = scene('sqlite');
    const first = open();
    await first.start(null, { runId: 'r1' });
    await pass(minutes);
    await first.close();
    await pass(60 * minutes);
    const second = open();
    await pass(200);
    expect(kit.names).toEqual(['wait', 'look']);
    expect(await second.result('r1')).toBe('complete');
    await second.close();
  });
});
