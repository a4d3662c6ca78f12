import { memoryStore } from '@cobbler/agent';
import { createHarness } from '@cobbler/agent/harness';
import type { HarnessSubject } from '../src/harness/environment.ts';
import { refusingStore } from '../src/harness/environment.ts';
import { harnessFixture } from '../src/harness/fixture.ts';

/** A conversation with the local loop, for `harnessContract`. */
export const local: HarnessSubject = {
  name: 'local',
  capabilities: { tools: true, gate: true, steer: true, fork: true, deltas: true },
  refuses: true,
  open({ handler, report }) {
    let isFull = false;
    const store = refusingStore(memoryStore(), () => isFull);
    const harness = createHarness({ ...harnessFixture(), store, handler, report });
    return {
      harness,
      log: async (sessionId) => store.read(sessionId),
      refuse(full) {
        isFull = full;
      },
      close: () => harness.close(),
    };
  },
};
