// Runs what every agent has to do on every wire there is, what the executor has to do, and what every harness and
// every runner has to do, and prints how many cases of each group held on which:
//
//   npm run contract                   all wires, the executor, all harnesses and runners
//   npm run contract -- harness        the harnesses
//   npm run contract -- runner         the runners
//   npm run contract -- assistant      the channels, stores and memories of the assistant
//   npm run contract -- chat claude    those with such words in their name
//
// A case that a wire cannot be asked is off, with the reason; it counts towards neither number. A promise that
// nobody caught, a warning of the process and memory that is still held at the end are failures like any other.
import { createHarness, memoryStore } from '@cobbler/agent';
import { createAgent } from '@cobbler/agent/provider';
import { connectHarness } from '@cobbler/agent/remote';
import type { ContractCase, ContractProblem, ContractSubject, HarnessSubject } from '@cobbler/agent/testing';
import {
  agentContract,
  executorContract,
  harnessContract,
  harnessScene,
  runContract,
  runnerContract,
  scriptCapabilities,
  scriptTesting,
  scriptWire,
} from '@cobbler/agent/testing';
import { ServerProcess } from '../apps/server/test/process.ts';
import { heldBytes } from '../packages/agent/src/testing/agent-contract/memory.ts';
import { lanternTesting } from '../packages/agent/test/made-up-wire/testing.ts';
import { createLantern } from '../packages/agent/test/made-up-wire/wire.ts';
import { onRunner } from '../packages/agent/test/runner-harness-subject.ts';
import { memoryStand, sqliteStand } from '../packages/agent/test/runner-stands.ts';
import { contracts as assistant } from '../packages/assistant/test/contracts.ts';
import { delegatedSubjects } from '../packages/delegate/test/subjects.ts';
import { subjects as aiSdk } from '../packages/provider-ai-sdk/test/subjects.ts';
import { subjects as claude } from '../packages/provider-claude/test/subjects.ts';
import { subjects as openai } from '../packages/provider-openai/test/subjects.ts';

/** What a wire may still hold when all of its cases are over, in MiB: its modules among it. */
const mostHeld = 64;

/** Failures that are named of one wire: when everything fails, the first of them say why. */
const mostShown = 30;

const scripted: ContractSubject = {
  name: 'scripted',
  create: ({ baseURL, apiKey, ...options }) =>
    createAgent(scriptWire({ baseURL, apiKey }), {
      model: 'scripted-model',
      capabilities: scriptCapabilities,
      ...options,
    }),
  testing: scriptTesting,
};

const lantern: ContractSubject = { name: 'made up', create: createLantern, testing: lanternTesting };

const local: HarnessSubject = {
  name: 'local',
  capabilities: { tools: true, gate: true, steer: true, fork: true, deltas: true },
  open({ handler, report }) {
    const store = memoryStore();
    const harness = createHarness({ ...harnessScene(), store, handler, report });
    return { harness, log: async (sessionId) => store.read(sessionId), close: () => harness.close() };
  },
};

const server = new ServerProcess();
let serving: Promise<void> | undefined;

const remote: HarnessSubject = {
  name: 'remote',
  capabilities: local.capabilities,
  async open({ handler, report }) {
    serving ??= server.start();
    await serving;
    const harness = connectHarness({ url: server.url, token: server.token, handler, report });
    return { harness, log: (sessionId) => server.log(sessionId), close: () => harness.close() };
  },
};

interface Suite {
  readonly name: string;
  readonly cases: () => readonly ContractCase[];
}

const suites: readonly Suite[] = [
  ...[...claude, ...openai, scripted, lantern].map((subject) => ({
    name: subject.name,
    cases: () => agentContract(subject),
  })),
  ...aiSdk.map(({ name, cases }) => ({ name, cases: () => cases() })),
  ...[local, remote, onRunner, ...delegatedSubjects()].map((subject) => ({
    name: `harness ${subject.name}`,
    cases: () => harnessContract(subject),
  })),
  { name: 'executor', cases: () => executorContract({ name: 'memory', store: () => memoryStore() }) },
  ...[memoryStand, sqliteStand].map((stand) => ({
    name: `runner ${stand.name}`,
    cases: () => runnerContract(stand),
  })),
  ...assistant.map(({ name, cases }) => ({ name: `assistant ${name}`, cases })),
];

/** How one suite went. */
interface Column {
  readonly name: string;
  /** By group: how many cases held, and of how many. */
  readonly groups: ReadonlyMap<string, { readonly passed: number; readonly total: number }>;
  readonly off: ReadonlyMap<string, number>;
  readonly failures: readonly ContractProblem[];
  readonly seconds: number;
  readonly heldMiB: number;
}

async function column({ name, cases }: Suite, troubles: string[]): Promise<Column> {
  const began = performance.now();
  const before = await heldBytes();
  const all = cases();
  const groups = new Map<string, { passed: number; total: number }>();
  const off = new Map<string, number>();
  const failures: ContractProblem[] = [];
  for (const [group, members] of Map.groupBy(all, (member) => member.group)) {
    const totals = await runContract(members);
    groups.set(group, totals);
    failures.push(...totals.failures);
    for (const { off: reason } of members)
      if (reason !== undefined) off.set(reason, (off.get(reason) ?? 0) + 1);
  }
  // What was left behind shows itself a moment later.
  await new Promise((resolve) => setTimeout(resolve, 50));
  for (const message of troubles.splice(0)) failures.push({ group: 'process', name: 'no trouble', message });
  const heldMiB = ((await heldBytes()) - before) / 2 ** 20;
  if (heldMiB > mostHeld) {
    const message = `${heldMiB.toFixed(0)} MiB are still held`;
    failures.push({ group: 'process', name: `at most ${mostHeld} MiB held in the end`, message });
  }
  return { name, groups, off, failures, seconds: (performance.now() - began) / 1000, heldMiB };
}

/** Everything that goes wrong where nobody looks. */
function watchProcess(): string[] {
  const troubles: string[] = [];
  process.on('unhandledRejection', (reason) => troubles.push(`a rejection nobody caught: ${String(reason)}`));
  process.on('uncaughtException', (error) => troubles.push(`an error nobody caught: ${error.message}`));
  process.on('warning', ({ name, message }) => {
    if (name !== 'ExperimentalWarning') troubles.push(`a warning: ${name}: ${message}`);
  });
  return troubles;
}

/** Groups down, wires across. */
function table(columns: readonly Column[]): string {
  const names = new Set(columns.flatMap(({ groups }) => [...groups.keys()]));
  const rows = [...names].map((group) => [
    group,
    ...columns.map(({ groups }) => {
      const counts = groups.get(group);
      if (counts === undefined) return '';
      const { passed, total } = counts;
      return passed === total ? `${passed}/${total}` : `FAILED ${passed}/${total}`;
    }),
  ]);
  const total = (pick: (column: Column) => string) => columns.map(pick);
  const sum = (column: Column, key: 'passed' | 'total') =>
    [...column.groups.values()].reduce((added, counts) => added + counts[key], 0);
  const lines = [
    ['group', ...columns.map(({ name }) => name)],
    ...rows,
    ['all', ...total((one) => `${sum(one, 'passed')}/${sum(one, 'total')}`)],
    ['off', ...total(({ off }) => String([...off.values()].reduce((added, count) => added + count, 0)))],
    ['seconds', ...total(({ seconds }) => seconds.toFixed(1))],
    ['MiB held', ...total(({ heldMiB }) => heldMiB.toFixed(1))],
  ];
  const widths = lines[0]?.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0))) ?? [];
  const pad = (cell: string, at: number) =>
    at === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[at] ?? 0);
  return lines.map((line) => line.map(pad).join('  ').trimEnd()).join('\n');
}

async function main(words: readonly string[]): Promise<number> {
  const wanted = suites.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
  if (wanted.length === 0) {
    print(`There is no wire of that name. There are: ${suites.map(({ name }) => name).join(', ')}.`);
    return 1;
  }
  const troubles = watchProcess();
  const columns: Column[] = [];
  for (const suite of wanted) {
    const done = await column(suite, troubles);
    columns.push(done);
    if (process.stderr.isTTY) process.stderr.write(`${done.name}: ${done.seconds.toFixed(1)} s\n`);
  }
  print(table(columns));
  for (const { name, off } of columns)
    for (const [reason, count] of off) print(`off on ${name}: ${count} (${reason})`);
  for (const { name, failures } of columns) {
    for (const { group, name: what, message } of failures.slice(0, mostShown))
      print(`FAILED on ${name}: ${group}: ${what}: ${message}`);
    if (failures.length > mostShown) print(`FAILED on ${name}: ${failures.length - mostShown} more`);
  }
  return columns.every(({ failures }) => failures.length === 0) ? 0 : 1;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

const code = await main(process.argv.slice(2));
await server.dispose();
// What a case left behind would keep the process alive.
process.stdout.write('', () => process.exit(code));
