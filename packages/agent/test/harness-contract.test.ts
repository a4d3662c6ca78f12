import { describe, it } from 'vitest';
import { createHarness } from '../src/harness.ts';
import { memoryStore } from '../src/memory-store.ts';
import type { HarnessSubject } from '../src/testing/index.ts';
import { describeContract, harnessContract, harnessScene } from '../src/testing/index.ts';

const local: HarnessSubject = {
  name: 'the local loop',
  capabilities: { tools: true, gate: true, steer: true, fork: true, deltas: true },
  open({ handler, report }) {
    const store = memoryStore();
    const harness = createHarness({ ...harnessScene(), store, handler, report });
    return { harness, log: async (sessionId) => store.read(sessionId), close: () => harness.close() };
  },
};

describe('a harness over the local loop', () => {
  describeContract(harnessContract(local), { describe, it });
});
