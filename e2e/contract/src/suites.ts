import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { memoryStore } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import type { HarnessSubject, StoreSubject } from '@cobbler/conformance';
import {
  executorContract,
  gateContract,
  harnessContract,
  runnerContract,
  storeContract,
} from '@cobbler/conformance';
import { ServerProcess } from '../../../apps/server/test/support/process.ts';
import { remoteSubject } from '../../../apps/server/test/support/remote-subject.ts';
import { contracts as assistant } from '../../../packages/assistant/test/support/contracts.ts';
import { gateDoors } from '../../../packages/conformance/test/gate-doors.ts';
import { local } from '../../../packages/conformance/test/local-harness-subject.ts';
import { memoryStand, sqliteStand } from '../../../packages/conformance/test/runner-environments.ts';
import { onRunner } from '../../../packages/conformance/test/runner-harness-subject.ts';
import { helio, lantern, lanternWithPasses, scripted } from '../../../packages/conformance/test/subjects.ts';
import { delegatedDoors } from '../../../packages/delegate/test/gate-doors.ts';
import { delegatedSubjects } from '../../../packages/delegate/test/subjects.ts';
import { restateOnDemand } from '../../../packages/runner-restate/test/on-demand.ts';
import { postgresRunnerOnDemand } from '../../../packages/store-postgres/test/runner-stand.ts';
import { mockedWays, packageSuites } from './packages.ts';
import type { Suite } from './suite.ts';

const packages = fileURLToPath(new URL('../../../packages', import.meta.url));

/** Returns all suites of the project. Servers start with the first case that needs them. */
export async function allSuites(): Promise<readonly Suite[]> {
  return [
    ...(await packageSuites('provider', packages)),
    ...[scripted, lantern, lanternWithPasses, helio].flatMap((subject) =>
      mockedWays(subject).map(({ name, heldBy, cases }) => ({
        name: `${subject.name} ${name}`,
        contract: 'agent',
        heldBy,
        cases: () => cases(),
      })),
    ),
    ...harnesses(),
    {
      name: 'executor',
      contract: 'executor',
      cases: () => executorContract({ name: 'memory', store: () => memoryStore() }),
    },
    ...[...gateDoors, ...delegatedDoors].map((door) => ({
      name: `gate ${door.name}`,
      contract: 'gate',
      cases: () => gateContract(door),
    })),
    ...stores(),
    ...(await packageSuites('store', packages)),
    ...runners(),
    ...assistant.map(({ name, cases }) => ({
      name: `assistant ${name}`,
      contract: `assistant ${name.split(' ')[0]}`,
      cases,
    })),
    ...(await packageSuites('channel', packages)),
  ];
}

function harnesses(): Suite[] {
  let started: Promise<ServerProcess> | undefined;
  const start = async () => {
    const server = new ServerProcess();
    await server.start();
    return server;
  };
  const remote = remoteSubject(() => {
    started ??= start();
    return started;
  });
  return [
    ...[local, onRunner, ...delegatedSubjects()].map((subject) => underHarness(subject)),
    { ...underHarness(remote), close: async () => (await started)?.dispose() },
  ];
}

function underHarness(subject: HarnessSubject): Suite {
  return { name: `harness ${subject.name}`, contract: 'harness', cases: () => harnessContract(subject) };
}

function stores(): Suite[] {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-contract-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  let files = 0;
  const here: readonly StoreSubject[] = [
    {
      name: 'memory',
      place: (now) => ({ open: () => memoryStore({ now }) }),
      forgets: 'data in memory is lost when the store closes',
      noMail: 'one process uses the memory store',
      noSearch: 'the memory store has no full-text search',
      noCosts: 'the memory store keeps no costs',
    },
    {
      name: 'sqlite',
      place(now) {
        files += 1;
        const file = join(folder, String(files), 'sessions.db');
        return { open: () => sqliteStore(file, { now }) };
      },
    },
  ];
  return here.map((subject) => ({
    name: `store ${subject.name}`,
    contract: 'store',
    cases: () => storeContract(subject),
  }));
}

function runners(): Suite[] {
  const engines = [postgresRunnerOnDemand(), restateOnDemand()];
  return [
    ...[memoryStand, sqliteStand].map((stand) => ({
      name: `runner ${stand.name}`,
      contract: 'runner',
      cases: () => runnerContract(stand),
    })),
    ...engines.map(({ subject, missing, stop }) => ({
      name: `runner ${subject.name}`,
      contract: 'runner',
      cases: () => runnerContract(subject),
      missing,
      close: stop,
    })),
  ];
}
