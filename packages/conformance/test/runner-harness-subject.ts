import { Executor, memoryStore } from '@cobbler/agent';
import { memoryRunner, sessionWorkflow } from '@cobbler/agent/runner';
import { runnerHarness } from '@cobbler/agent/runner-harness';
import type { HarnessSubject } from '../src/harness/environment.ts';
import { harnessFixture } from '../src/harness/fixture.ts';

/** A conversation whose runs a runner performs, for `harnessContract`. */
export const onRunner: HarnessSubject = {
  name: 'runner',
  capabilities: { tools: true, gate: true, steer: false, fork: true, deltas: false },
  open({ handler, report }) {
    const store = memoryStore();
    const executor = new Executor({
      ...harnessFixture(),
      store,
      toolErrors: 'stop-batch',
      toolScheduling: 'sequential',
    });
    const runner = memoryRunner({ workflow: sessionWorkflow({ store, executor: () => executor }) });
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
