import { connectHarness } from '@cobbler/agent/remote';
import type { HarnessSubject } from '@cobbler/agent/testing';
import { describeContract, harnessContract } from '@cobbler/agent/testing';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { ServerProcess } from './process.ts';

const server = new ServerProcess();
beforeAll(() => server.start(), 60_000);
afterAll(() => server.dispose());

/** A harness over HTTP and events, before a server in another process. */
const remote: HarnessSubject = {
  name: 'a server',
  capabilities: { tools: true, gate: true, steer: true, fork: true, deltas: true },
  refuses: true,
  open({ handler, report }) {
    const { url, token } = server;
    const harness = connectHarness({ url, token, handler, report });
    return {
      harness,
      log: (sessionId) => server.log(sessionId),
      refuse: (isFull) => server.refuse(isFull),
      async close() {
        server.refuse(false);
        await harness.close();
      },
    };
  },
};

describe('a harness over a server process', { timeout: 120_000 }, () =>
  describeContract(harnessContract(remote), { describe, it }),
);
