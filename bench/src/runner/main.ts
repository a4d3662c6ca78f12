// Measures the cost of a step on each runner, and of a session's action on each runner with its store, for 1, 8 and
// 32 concurrent sessions. All measurements run one after another on one machine:
//
//   npm run bench -- runner         all
//   npm run bench -- runner quick   a tenth of the steps
//
// Restate and PostgreSQL are skipped, with a message, if they are not installed: npm run verify -- scale downloads
// them.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sqliteStore } from '@cobbler/agent/node';
import type { Runner } from '@cobbler/agent/runner';
import { sqliteRunner } from '@cobbler/agent/sqlite-runner';
import { restateRunner } from '../../../packages/runner-restate/src/index.ts';
import { missingRestate, startRestate } from '../../../packages/runner-restate/test/restate-server.ts';
import { postgresStore } from '../../../packages/store-postgres/src/index.ts';
import { missingPostgres, startPostgres } from '../../../packages/store-postgres/test/postgres-server.ts';
import type { Figures, Load } from './work.ts';
import { actions, bareSteps, measure } from './work.ts';

interface Row extends Figures {
  readonly subject: string;
}

const isQuick = process.argv.includes('quick');
const stepsOfRun = isQuick ? 20 : 200;
const turns = isQuick ? 3 : 20;
const folder = mkdtempSync(join(tmpdir(), 'cobbler-bench-runner-'));
const endings: (() => Promise<unknown>)[] = [];
const rows: Row[] = [];
let loads = 0;

async function compare(subject: string, load: Load, open: (load: Load) => Promise<Runner>): Promise<void> {
  const runner = await open(load);
  try {
    // The first load also pays for connections and compilation.
    await measure(runner, load, 2, `warm${loads++}`);
    for (const sessions of [1, 8, 32]) {
      const figures = await measure(runner, load, sessions, `load${loads++}`);
      rows.push({ subject, ...figures });
      print(line(subject, figures));
    }
  } finally {
    await runner.close();
  }
}

function line(subject: string, { sessions, stepsPerSecond, p50Ms, p95Ms, cpuMs }: Figures): string {
  const rate = `${stepsPerSecond.toFixed(0).padStart(6)} steps/s`;
  const times = `${p50Ms.toFixed(2).padStart(7)} ms per step ${p95Ms.toFixed(2).padStart(7)} p95`;
  return `${subject.padEnd(44)} ${String(sessions).padStart(3)} sessions ${rate} ${times} ${cpuMs.toFixed(2).padStart(6)} cpu`;
}

let files = 0;
const inFile = async ({ workflow }: Load): Promise<Runner> => {
  files += 1;
  return sqliteRunner({ file: join(folder, `runs-${files}.db`), workflow });
};

async function local(): Promise<void> {
  await compare('steps: SQLite, one process', bareSteps(stepsOfRun), inFile);
  const store = sqliteStore(join(folder, 'sessions.db'));
  endings.unshift(() => store.close());
  await compare('actions: SQLite runner, SQLite store', actions(store, turns), inFile);
}

async function postgres(): Promise<string> {
  const server = await startPostgres({ durable: true });
  endings.unshift(() => server.stop());
  const store = postgresStore({ url: server.url, exclusion: 'runner' });
  endings.unshift(() => store.close());
  await compare('actions: SQLite runner, PostgreSQL store', actions(store, turns), inFile);
  return server.url;
}

async function restate(nodes: number, url: string | undefined): Promise<void> {
  const cluster = await startRestate(nodes);
  try {
    const { ingress, admin } = cluster;
    let services = 0;
    const open = async ({ workflow }: Load): Promise<Runner> => {
      services += 1;
      const runner = restateRunner({ workflow, ingress, admin, port: 0, service: `bench${services}` });
      await runner.ready();
      return runner;
    };
    const name = nodes === 1 ? 'Restate, one node' : `Restate, ${nodes} nodes`;
    await compare(`steps: ${name}`, bareSteps(stepsOfRun), open);
    if (url === undefined) return;
    const store = postgresStore({ url, exclusion: 'runner' });
    try {
      await compare(`actions: ${name}, PostgreSQL store`, actions(store, turns), open);
    } finally {
      await store.close();
    }
  } finally {
    await cluster.stop();
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

let code = 0;
try {
  await local();
  const withoutPostgres = missingPostgres();
  const url = withoutPostgres === undefined ? await postgres() : undefined;
  if (withoutPostgres !== undefined) print(`*** skipped: ${withoutPostgres}`);
  const withoutRestate = missingRestate();
  if (withoutRestate !== undefined) print(`*** skipped: ${withoutRestate}`);
  else for (const nodes of [1, 3]) await restate(nodes, url);
  if (!isQuick) {
    const file = fileURLToPath(new URL('../../results/runner.json', import.meta.url));
    writeFileSync(file, `${JSON.stringify({ stepsOfRun, turns, rows }, null, 2)}\n`);
  }
} catch (error) {
  print(`bench: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  code = 1;
} finally {
  for (const end of endings) await end().catch(() => {});
  rmSync(folder, { recursive: true, force: true });
}
process.exit(code);
