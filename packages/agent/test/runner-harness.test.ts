import { describe, expect, it } from 'vitest';
import { Executor } from '../src/executor.ts';
import { memoryRunner } from '../src/memory-runner.ts';
import { memoryStore } from '../src/memory-store.ts';
import { runnerHarness } from '../src/runner-harness.ts';
import { sessionRoutine } from '../src/session-routine.ts';
import { describeContract, harnessContract, harnessScene } from '../src/testing/index.ts';
import { onRunner } from './runner-harness-subject.ts';

describe('a harness over a runner', () => {
  describeContract(harnessContract(onRunner), { describe, it });
});

describe('two harnesses of one session over a runner', () => {
  it('the second is refused while the first runs, and its run begins and ends once', async () => {
    const store = memoryStore();
    const executor = new Executor({ ...harnessScene(), store });
    const runner = memoryRunner({ routine: sessionRoutine({ store, executor: () => executor }) });
    const open = () => runnerHarness({ runner, store, executor, sessionId: 'one', pollMs: 5 });
    const [first, second] = [open(), open()];
    const run = first.prompt('hang');
    for await (const event of run) if (event.type === 'user') break;
    const events: string[] = [];
    const refused = second.prompt('say Hi.');
    for await (const event of refused) events.push(event.type);
    expect(events).toEqual(['started', 'finished']);
    expect((await refused.result).error?.code).toBe('busy');
    const joined = await second.join();
    expect(joined?.run.id).toBe(run.id);
    expect(second.cancel()).toBe(true);
    expect((await run.result).status).toBe('cancelled');
    expect((await joined?.run.result)?.status).toBe('cancelled');
    await runner.close();
  });
});
