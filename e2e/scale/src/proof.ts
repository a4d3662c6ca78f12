// The proof: three Restate nodes, one PostgreSQL, two `cobbler serve`, one model. One node and one server are killed
// while twenty sessions run and are watched at both. Prints the results, and fails if a check fails.
import { postgresStore } from '@cobbler/store-postgres';
import { freePort } from '../../../packages/store-postgres/test/postgres-server.ts';
import type { Balancer } from './balancer.ts';
import { startBalancer } from './balancer.ts';
import { readBookings } from './bookings.ts';
import type { Cobbler } from './cobbler.ts';
import { turns } from './model.ts';
import { report } from './report.ts';
import type { Scene } from './scene.ts';
import { setScene } from './scene.ts';
import type { SessionFindings } from './verdict.ts';
import type { Watcher } from './watcher.ts';
import { watchSession } from './watcher.ts';

const sessions = Number(process.env['COBBLER_PROOF_SESSIONS'] ?? 20);

/** Time that watchers stay after the end of all runs, in milliseconds, because a duplicate event may arrive late. */
const lateMs = 1500;

const began = performance.now();
const seconds = (since: number) => ((performance.now() - since) / 1000).toFixed(1);
const tell = (text: string) => void process.stdout.write(`${text}\n`);
const note = (text: string) => tell(`${seconds(began).padStart(5)} s  ${text}`);

interface Stage {
  readonly scene: Scene;
  readonly balancer: Balancer;
  /** The ports at which the engine finds the first and the second process. */
  readonly ports: readonly number[];
  readonly first: Cobbler;
  readonly second: Cobbler;
}

const endings: (() => Promise<unknown>)[] = [];

async function setUp(): Promise<Stage> {
  const scene = await setScene({ nodes: 3, answerMs: [80, 250], bookMs: [100, 400] });
  endings.unshift(() => scene.close());
  const ports = [await freePort(), await freePort()];
  const balancer = await startBalancer(ports);
  endings.unshift(() => balancer.close());
  note('PostgreSQL, three Restate nodes and a model are up');
  const serve = (name: string, at: number) => {
    const own = ['--restate-port', String(ports[at]), '--restate-address', balancer.url];
    return scene.serve(name, ['--yes', '--log-level', 'warn', ...own]);
  };
  const [first, second] = [await serve('A', 0), await serve('B', 1)];
  note(`two processes \`cobbler serve\` are up: A ${first.url}, B ${second.url}`);
  // A new cluster elects the leaders of its partitions at the first requests.
  const warm = Array.from({ length: 16 }, (_, index) => `warm-${index}`);
  await Promise.all(warm.map((id, index) => prompt(index % 2 === 0 ? first : second, id, 'Warm up.')));
  await Promise.all(warm.map((id) => completed(second, id)));
  note('sixteen short sessions have warmed the cluster');
  return { scene, balancer, ports, first, second };
}

/** Creates a session and sends a prompt. The id of the run is that of the session. */
async function prompt(cobbler: Cobbler, id: string, content: string): Promise<void> {
  await cobbler.ask('POST', '/v1/sessions', { body: { id } });
  const path = `/v1/sessions/${id}/prompt`;
  const { status, json } = await cobbler.ask('POST', path, { body: { content }, key: `run-${id}` });
  if (status !== 202) throw new Error(`${id} was not accepted: ${status} ${JSON.stringify(json)}`);
}

async function completed(cobbler: Cobbler, id: string): Promise<void> {
  await until(`${id} is complete`, 60_000, async () => {
    const { json } = await cobbler.ask('GET', `/v1/sessions/${id}`);
    return json['status'] === 'complete';
  });
}

async function until(what: string, ms: number, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + ms;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`timed out, waiting until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Watches each session from A and from B, and from the other one when that is gone. */
function watchAll(ids: readonly string[], { first, second }: Stage): readonly Watcher[] {
  const watchers = ids.flatMap((id) => [
    watchSession(id, [first, second]),
    watchSession(id, [second, first]),
  ]);
  endings.unshift(() => Promise.all(watchers.map((watcher) => watcher.stop())));
  return watchers;
}

async function prove(): Promise<boolean> {
  const stage = await setUp();
  const { scene, balancer, ports, first, second } = stage;
  const ids = Array.from({ length: sessions }, (_, index) => `session-${String(index + 1).padStart(2, '0')}`);
  for (const id of ids) await second.ask('POST', '/v1/sessions', { body: { id } });
  const watchers = watchAll(ids, stage);
  const before = scene.model.requests;
  const starting = performance.now();
  await Promise.all(
    ids.map((id, index) => prompt(index % 2 === 0 ? first : second, id, `Book all places of ${id}.`)),
  );
  note(`${sessions} sessions are prompted, each has a watcher at A and one at B`);

  const by = (name?: string) =>
    readBookings(scene.bookings).filter((one) => name === undefined || one.by === name).length;
  await until('a third of the work is done', 120_000, () => by() >= (sessions * turns) / 3);
  const killing = performance.now();
  const done = `${by()} of ${sessions * turns} bookings (A ${by('A')}, B ${by('B')})`;
  await Promise.all([scene.restate.nodes[1]?.kill(), first.kill()]);
  note(`kill -9: Restate node 2 and Cobbler A, after ${done}`);

  await late(Promise.all(watchers.map(({ ended }) => ended)), 180_000, () => unended(watchers));
  const took = seconds(starting);
  note(`every watcher has seen its session end, ${seconds(killing)} s after the kill`);
  await Promise.all(ids.map((id) => completed(second, id)));
  await new Promise((resolve) => setTimeout(resolve, lateMs));
  await Promise.all(watchers.map((watcher) => watcher.stop()));

  const findings = await findingsOf(ids, scene, watchers);
  return report(findings, tell, {
    seconds: took,
    requests: scene.model.requests - before,
    complaints: scene.model.complaints,
    connections: ports.map((port) => balancer.given.get(port) ?? 0),
    logOfB: second.log(),
  });
}

async function late(work: Promise<unknown>, ms: number, what: () => string): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(what())), ms);
  });
  await Promise.race([work, over]).finally(() => clearTimeout(timer));
}

function unended(watchers: readonly Watcher[]): string {
  const open = watchers.filter(({ seen }) => !(seen.events.at(-1)?.text ?? '').includes('"type":"finished"'));
  const last = open.map(({ sessionId, seen }) => `${sessionId} at ${seen.events.at(-1)?.id ?? 0}`);
  return `${open.length} watchers did not see an end: ${last.join(', ')}`;
}

/** Returns the log, the bookings and the watched events of each session. */
async function findingsOf(
  ids: readonly string[],
  { postgres, bookings }: Scene,
  watchers: readonly Watcher[],
): Promise<readonly SessionFindings[]> {
  const store = postgresStore({ url: postgres.url, exclusion: 'runner' });
  endings.unshift(() => store.close());
  const booked = readBookings(bookings);
  return await Promise.all(
    ids.map(async (sessionId) => ({
      sessionId,
      runId: `run-${sessionId}`,
      events: await store.read(sessionId),
      bookings: booked.filter((one) => one.sessionId === sessionId),
      watchers: watchers.filter((one) => one.sessionId === sessionId).map(({ seen }) => seen),
    })),
  );
}

let cleaned: Promise<void> | undefined;

function cleanUp(): Promise<void> {
  cleaned ??= (async () => {
    for (const end of endings) await end().catch(() => {});
  })();
  return cleaned;
}

// The reader of the output may close it; everything that was started must still be stopped.
process.stdout.on('error', () => {});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => void cleanUp().finally(() => process.exit(130)));

let holds = false;
try {
  holds = await prove();
} catch (error) {
  tell(`FAILED ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
} finally {
  await cleanUp();
}
process.exit(holds ? 0 : 1);
