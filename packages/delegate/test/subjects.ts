import { memoryStore } from '@cobbler/agent';
import type { HarnessSubject } from '@cobbler/conformance';
import { refusingStore } from '@cobbler/conformance';
import { delegatedHarness } from '@cobbler/delegate';
import type { BackendName } from './fake-programs.ts';
import { backendNames, backendOf, placePrograms } from './fake-programs.ts';

const tools = ['look', 'write', 'break', 'hold', 'nothing'];

/** Returns each backend as a conversation, over fake programs that follow the contract. */
export function delegatedSubjects(): readonly HarnessSubject[] {
  return backendNames.map(subjectOf);
}

function subjectOf(name: BackendName): HarnessSubject {
  return {
    name,
    capabilities: backendOf(name, { env: {} }).capabilities,
    ownTools: name === 'claude-code' ? 'named' : 'commands',
    refuses: true,
    open({ handler, report }) {
      const { workspace, options, dispose } = placePrograms();
      let isFull = false;
      const store = refusingStore(memoryStore(), () => isFull);
      const backend = backendOf(name, options);
      const harness = delegatedHarness({ backend, workingDir: workspace, store, handler, report, tools });
      return {
        harness,
        log: async (sessionId) => store.read(sessionId),
        refuse(full) {
          isFull = full;
        },
        close: async () => {
          await harness.close();
          dispose();
        },
      };
    },
  };
}
