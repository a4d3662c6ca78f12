import { describe, expect, it } from 'vitest';
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
      'Run c was not started: the maximum number of unfinished runs (2) is reached. Wait for some to end, or raise maxOpen of memoryRunner.';
    const refused = runner.start(null, { runId: 'c' });
    await expect(refused).rejects.toMatchObject({ kind: 'invalid', code: 'too_many_runs', message });
    expect(await runner.start(null, { runId: 'a' })).toBe(false);
    await runner.signal('a', 'go', null);
    await runner.result('a');
    expect(await runner.start(null, { runId: 'c' })).toBe(true);
    await runner.close();
  });
});
