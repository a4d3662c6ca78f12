import { connectHarness } from '@cobbler/agent/remote';
import type { HarnessSubject } from '@cobbler/conformance';
import type { ServerProcess } from './process.ts';

/** Returns a remote conversation with a server in another process, for `harnessContract`. */
export function remoteSubject(serverOf: () => ServerProcess | Promise<ServerProcess>): HarnessSubject {
  return {
    name: 'remote',
    capabilities: { tools: true, gate: true, steer: true, fork: true, deltas: true },
    refuses: true,
    async open({ handler, report }) {
      const server = await serverOf();
      const harness = connectHarness({ url: server.url, token: server.token, handler, report });
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
}
