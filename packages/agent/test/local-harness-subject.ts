import { createHarness } from '../src/harness/harness.ts';
import { memoryStore } from '../src/store/memory-store.ts';
import type { HarnessSubject } from '../src/testing/index.ts';
import { harnessScene, refusingStore } from '../src/testing/index.ts';

/** A conversation over the local loop, for `harnessContract`. */
export const local: HarnessSubject = {
  name: 'local',
  capabilities: { tools: true, gate: true, steer: true, fork: true, deltas: true },
  refuses: true,
  open({ handler, report }) {
    let isFull = false;
    const store = refusingStore(memoryStore(), () => isFull);
    const harness = createHarness({ ...harnessScene(), store, handler, report });
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
