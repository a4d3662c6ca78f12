import { describe, expect, it } from 'vitest';
import { maxQueued } from '../../src/runner/inbox.ts';
import { memoryRunner } from '../../src/runner/memory-runner.ts';
import { fakeRuntime } from '../../src/testing/index.ts';

describe('a runner in memory', () => {
  it('has at most maxOpen runs that have not ended [P29]', async () => {
    const workflow = async (_input: null, steps: { waitFor(name: string): Promise<unknown> }) => {
      await steps.waitFor('go');
      return null;
    };
    const runner = memoryRunner({ workflow, runtime: fakeRuntime(), maxOpen: 2 });
    await runner.start(null, { runId: 'a' });
    await runner.start(null, { runId: 'b', key: 'b' });
    const message =
      'Run c was not started: the maximum number of unfinished runs (2) has been reached. Wait for some to end, or raise the maxOpen option of memoryRunner.';
    const refused = runner.start(null, { runId: 'c' });
    await expect(refused).rejects.toMatchObject({ kind: 'invalid', code: 'too_many_runs', message });
    expect(await runner.start(null, { runId: 'a' })).toBe(false);
    await runner.signal('a', 'go', null);
    await runner.result('a');
    expect(await runner.start(null, { runId: 'c' })).toBe(true);
    await runner.close();
  });

  it('has at most 1,000 runs of one key that wait [P29]', async () => {
    const workflow = async (_input: null, steps: { waitFor(name: string): Promise<unknown> }) => {
      await steps.waitFor('go');
      return null;
    };
    const runtime = fakeRuntime();
    const runner = memoryRunner({ workflow, runtime });
    const key = 'k';
    const later = { key, dueAt: runtime.now() + 1000 };
    await runner.start(null, { runId: 'later', ...later });
    for (let number = 0; number <= maxQueued; number += 1)
      expect(await runner.start(null, { runId: `run-${number}`, key })).toBe(true);
    const message = 'Run last was not started: the key "k" has 1001 unfinished runs, the maximum.';
    const refused = runner.start(null, { runId: 'last', key });
    await expect(refused).rejects.toMatchObject({ kind: 'invalid', code: 'busy', message });
    expect(await runner.start(null, { runId: 'run-5', key })).toBe(false);
    expect(await runner.start(null, { runId: 'other' })).toBe(true);
    await runner.cancel('run-5');
    expect(await runner.start(null, { runId: 'last', key })).toBe(true);
    await runner.close();
  });
});
