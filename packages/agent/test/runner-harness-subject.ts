import { Executor } from '../src/loop/executor.ts';
import { memoryRunner } from '../src/runner/memory-runner.ts';
import { runnerHarness } from '../src/runner/runner-harness.ts';
import { sessionRoutine } from '../src/runner/session-routine.ts';
import { memoryStore } from '../src/store/memory-store.ts';
import type { HarnessSubject } from '../src/testing/index.ts';
import { harnessScene } from '../src/testing/index.ts';

/** A conversation whose runs a runner sees to, for `harnessContract`. */
export const onRunner: HarnessSubject = {
  name: 'runner',
  capabilities: { tools: true, gate: true, steer: false, fork: true, deltas: false },
  open({ handler, report }) {
    const store = memoryStore();
    const executor = new Executor({
      ...harnessScene(),
      store,
      toolErrors: 'stop-batch',
      toolScheduling: 'sequential',
    });
    const runner = memoryRunner({ routine: sessionRoutine({ store, executor: () => executor }) });
    const harness = runnerHarness({ runner, store, executor, handler, report, pollMs: 5 });
    return {
      harness,
      log: async (sessionId) => store.read(sessionId),
      async close() {
        await harness.close();
        await runner.close();
      },
    };
  },
};
