// The proof: three Restate nodes, one PostgreSQL, two Cobbler processes; one node and one process are killed while
// twenty sessions run and are watched from both. Prints what happened, and fails when something does not hold.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { postgresStore } from '@cobbler/store-postgres';
import type { RestateCluster } from '../../../packages/runner-restate/test/restate-server.ts';
import { startRestate } from '../../../packages/runner-restate/test/restate-server.ts';
import type { PostgresServer } from '../../../packages/store-postgres/test/postgres-server.ts';
import { startPostgres } from '../../../packages/store-postgres/test/postgres-server.ts';
import type { Balancer } from './balancer.ts';
import { startBalancer } from './balancer.ts';
import { turns } from './scripted-model.ts';
import type { Ready, Settings } from './settings.ts';
import type { SessionFindings } from './verdict.ts';
import { problems, unknownOutcomes } from './verdict.ts';
import type { Seen } from './watcher.ts';
import { watchSession } from './watcher.ts';

const sessions = Number(process.env['COBBLER_PROOF_SESSIONS'] ?? 20);

interface CobblerProcess extends Ready {
  readonly name: string;
  readonly child: ChildProcess;
}

function tell(text: string): void {
  process.stdout.write(`${text}\n`);
}

async function startCobbler(settings: Settings, balancer: Balancer): Promise<CobblerProcess> {
  const flags = ['--conditions=@cobbler/source', '--disable-warning=ExperimentalWarning'];
  const file = fileURLToPath(new URL('./cobbler-process.ts', import.meta.url));
  const child = spawn(process.execPath, [...flags, file, JSON.stringify(settings)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line) as Partial<Ready>;
    if (said.engine !== undefined) balancer.add(said.engine);
    if (said.engine !== undefined && said.api !== undefined)
      return { name: settings.name, child, engine: said.engine, api: said.api };
  }
  throw new Error(`Cobbler ${settings.name} ended before it was ready.`);
}

/** Lines of the file of effects, by session. */
function effectsOf(file: string): Map<string, { readonly place: number; readonly by: string }[]> {
  const found = new Map<string, { place: number; by: string }[]>();
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  for (const line of lines) {
    const [sessionId = '', , place, by = ''] = line.split(' ');
    if (!sessionId.startsWith('session-')) continue;
    found.set(sessionId, [...(found.get(sessionId) ?? []), { place: Number(place), by }]);
  }
  return found;
}

async function until(what: string, holds: () => boolean, ms: number): Promise<void> {
  const deadline = Date.now() + ms;
  while (!holds()) {
    if (Date.now() > deadline) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

const began = performance.now();
const at = () => `${((performance.now() - began) / 1000).toFixed(1).padStart(5)} s`;
const folder = mkdtempSync(join(tmpdir(), 'cobbler-proof-'));
const effects = join(folder, 'effects');
const endings: (() => Promise<unknown>)[] = [];

interface Scene {
  readonly postgres: PostgresServer;
  readonly restate: RestateCluster;
  readonly balancer: Balancer;
  readonly first: CobblerProcess;
  readonly second: CobblerProcess;
}

async function setUp(): Promise<Scene> {
  const postgres = await startPostgres({ durable: true });
  endings.unshift(() => postgres.stop());
  const restate = await startRestate(3);
  endings.unshift(() => restate.stop());
  const balancer = await startBalancer();
  endings.unshift(() => balancer.close());
  tell(`${at()}  PostgreSQL and three Restate nodes are up`);
  const { ingress, admin } = restate;
  const cobbler = async (name: string): Promise<CobblerProcess> => {
    const own = { name, database: postgres.url, ingress, admin, address: balancer.url, effects };
    const started = await startCobbler(own, balancer);
    endings.unshift(() => killed(started.child));
    return started;
  };
  const [first, second] = [await cobbler('A'), await cobbler('B')];
  // A cluster that was just made chooses who leads its parts when they are first asked for something.
  await Promise.all(Array.from({ length: 16 }, (_, index) => ranAt(first, `warm-${index}`)));
  tell(`${at()}  two Cobbler processes are up, and sixteen sessions have warmed the cluster`);
  return { postgres, restate, balancer, first, second };
}

async function prompted({ api }: CobblerProcess, sessionId: string): Promise<void> {
  const response = await fetch(`${api}/prompt?session=${sessionId}&run=run-${sessionId}`);
  if (!response.ok) throw new Error(`${sessionId} could not be started.`);
}

/** How a run ended, whichever process is asked. */
async function resultAt({ api }: CobblerProcess, sessionId: string): Promise<string> {
  const signal = AbortSignal.timeout(240_000);
  const response = await fetch(`${api}/result?run=run-${sessionId}`, { signal });
  return ((await response.json()) as { result: string }).result;
}

async function ranAt(cobbler: CobblerProcess, sessionId: string): Promise<void> {
  await prompted(cobbler, sessionId);
  await resultAt(cobbler, sessionId);
}

/** Watches each session twice: from the first process and from the second, and from the other when one is gone. */
function watchAll(ids: readonly string[], { first, second }: Scene) {
  const watching: Promise<void>[] = [];
  const watchers = new Map<string, Seen[]>();
  for (const sessionId of ids) {
    const seen = [0, 1].map(() => ({ sessionId, seqs: [], ids: [], moves: 0, isOver: false }));
    watchers.set(sessionId, seen);
    for (const [index, one] of seen.entries()) {
      const urls = index === 0 ? [first.api, second.api] : [second.api, first.api];
      watching.push(watchSession(sessionId, urls, one));
    }
  }
  return { watchers, seenAll: Promise.all(watching) };
}

async function prove(): Promise<number> {
  const scene = await setUp();
  const { postgres, restate, balancer, first, second } = scene;
  const ids = Array.from({ length: sessions }, (_, index) => `session-${String(index + 1).padStart(2, '0')}`);
  const { watchers, seenAll } = watchAll(ids, scene);
  const starting = performance.now();
  await Promise.all(ids.map((sessionId, index) => prompted(index % 2 === 0 ? first : second, sessionId)));
  tell(`${at()}  ${sessions} sessions started, each with a watcher at A and one at B`);

  const count = () => [...effectsOf(effects).values()].flat().length;
  const by = (name: string) =>
    [...effectsOf(effects).values()].flat().filter((effect) => effect.by === name).length;
  await until('a third of the work is done', () => count() >= (sessions * turns) / 3, 120_000);
  const before = { A: by('A'), B: by('B') };
  const killAt = performance.now();
  await Promise.all([restate.nodes[1]?.kill(), killed(first.child)]);
  tell(
    `${at()}  kill -9: Restate node 2 and Cobbler A, after ${count()} of ${sessions * turns} bookings (A ${before.A}, B ${before.B})`,
  );

  const results = await Promise.all(ids.map((sessionId) => resultAt(second, sessionId)));
  const took = performance.now() - starting;
  tell(`${at()}  every run has ended, ${((performance.now() - killAt) / 1000).toFixed(1)} s after the kill`);
  await Promise.race([
    seenAll,
    new Promise((_, reject) =>
      setTimeout(() => reject(new Error('a watcher did not come to the end')), 30_000),
    ),
  ]);
  tell(`${at()}  every watcher has seen an end`);

  const store = postgresStore({ url: postgres.url, exclusion: 'runner' });
  endings.unshift(() => store.close());
  const booked = effectsOf(effects);
  const findings: SessionFindings[] = [];
  for (const sessionId of ids)
    findings.push({
      sessionId,
      events: await store.read(sessionId),
      booked: (booked.get(sessionId) ?? []).map(({ place }) => place),
      watchers: watchers.get(sessionId) ?? [],
    });
  return report(findings, {
    results,
    tookMs: took,
    by,
    connections: balancer.given,
    processes: [first, second],
  });
}

interface Course {
  readonly results: readonly string[];
  readonly tookMs: number;
  readonly by: (name: string) => number;
  readonly connections: ReadonlyMap<string, number>;
  readonly processes: readonly CobblerProcess[];
}

function report(findings: readonly SessionFindings[], course: Course): number {
  const all = findings.flatMap(problems);
  const sum = (pick: (one: SessionFindings) => number) =>
    findings.reduce((total, one) => total + pick(one), 0);
  const seen = findings.flatMap(({ watchers }) => watchers);
  const events = sum((one) => one.events.length);
  const resumed = sum((one) => one.events.filter(({ type }) => type === 'resumed').length);
  const rows: [string, string | number][] = [
    ['sessions', findings.length],
    ['ended complete', course.results.filter((result) => result === 'complete').length],
    ['events in the log', events],
    ['answers of the model', sum((one) => one.events.filter(({ type }) => type === 'assistant').length)],
    ['bookings (tool with effect once)', sum((one) => one.booked.length)],
    ['  of them by A, by B', `${course.by('A')}, ${course.by('B')}`],
    ['bookings that ran twice', sum((one) => one.booked.length - new Set(one.booked).size)],
    ['bookings cut by the kill, outcome unknown', sum((one) => unknownOutcomes(one.events))],
    ['sessions taken up in the middle of a tool', resumed],
    ['watchers', seen.length],
    ['  that went on at the other process', seen.filter(({ moves }) => moves > 0).length],
    ['  events they saw', seen.reduce((total, { seqs }) => total + seqs.length, 0)],
    [
      '  that missed one or saw one twice',
      seen.filter(({ seqs }) => seqs.some((seq, at) => seq !== at + 1)).length,
    ],
    [
      'connections of the engine to A, to B',
      course.processes.map(({ engine }) => course.connections.get(engine) ?? 0).join(', '),
    ],
    ['seconds from the first start to the last end', (course.tookMs / 1000).toFixed(1)],
  ];
  const width = Math.max(...rows.map(([label]) => label.length));
  tell('');
  for (const [label, value] of rows) tell(`${label.padEnd(width)}  ${String(value).padStart(8)}`);
  tell('');
  for (const problem of all.slice(0, 30)) tell(`FAILED ${problem}`);
  tell(all.length === 0 ? 'The proof holds.' : `${all.length} things do not hold.`);
  return all.length === 0 ? 0 : 1;
}

let cleaned: Promise<void> | undefined;

function cleanUp(): Promise<void> {
  cleaned ??= (async () => {
    for (const end of endings) await end().catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  })();
  return cleaned;
}

// Whoever reads the output may leave; what was started is ended all the same.
process.stdout.on('error', () => {});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => void cleanUp().finally(() => process.exit(130)));

let code = 1;
try {
  code = await prove();
} catch (error) {
  tell(`FAILED ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
} finally {
  await cleanUp();
}
process.exit(code);
