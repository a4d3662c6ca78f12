// Tests readers of two servers on one store: both `cobbler serve` processes receive prompts, first on one SQLite file,
// then on one PostgreSQL. Reader connections are cut and servers are killed. Each reader must see each stored event
// exactly once, in order, unchanged. Prints the counts, and fails if a check fails.
//
//   COBBLER_BIN=installed-command node readers.ts [sqlite] [postgres]
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Event, SessionStore } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import type { SeededRandom } from '@cobbler/agent/testing';
import { seededRandom } from '@cobbler/agent/testing';
import { postgresStore } from '@cobbler/store-postgres';
import type { Cut } from '../../../apps/server/test/support/cutting-proxy.ts';
import { CuttingProxy } from '../../../apps/server/test/support/cutting-proxy.ts';
import { ownPort } from '../../../apps/server/test/support/own-port.ts';
import { startPostgres } from '../../../packages/store-postgres/test/postgres-server.ts';
import type { Cobbler } from './cobbler.ts';
import { startCobbler } from './cobbler.ts';
import { readingAnswer, startModel } from './model.ts';
import type { Leg, Prompts } from './readers-report.ts';
import { reportLegs } from './readers-report.ts';
import type { Watcher } from './watcher.ts';
import { watchSession } from './watcher.ts';

const sessions = 5;
const wantedCuts = Number(process.env['COBBLER_SCALE_CUTS'] ?? 500);
const wantedKills = Number(process.env['COBBLER_SCALE_KILLS'] ?? 10);

/**
 * Time limits for one store: until all cuts and kills are done, and then until all runs have ended, in
 * milliseconds.
 */
const playMs = 120_000;
const restMs = 60_000;

/** Time that readers stay after the last event, in milliseconds, because a duplicate may arrive late. */
const lateMs = 2_500;

const began = performance.now();
const tell = (text: string) => void process.stdout.write(`${text}\n`);
const note = (text: string) =>
  tell(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${text}`);
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Stops everything that was started, in reverse order. */
const endings: (() => unknown)[] = [];

async function endAll(): Promise<void> {
  for (const end of endings.splice(0).reverse()) await Promise.resolve(end()).catch(() => undefined);
}

/** The shared store of both servers. */
interface Place {
  readonly name: string;
  readonly address: string;
  open(): SessionStore;
}

async function placeOf(name: string, folder: string): Promise<Place> {
  if (name === 'sqlite') {
    const file = join(folder, 'sessions.db');
    return { name: 'SQLite', address: file, open: () => sqliteStore(file) };
  }
  const { url, stop } = await startPostgres({ durable: true });
  endings.push(stop);
  return { name: 'PostgreSQL', address: url, open: () => postgresStore({ url }) };
}

/** A server that restarts on its port after each kill, behind a proxy that cuts the connections of its readers. */
class Server {
  readonly name: string;
  readonly proxy: CuttingProxy;
  readonly #start: () => Promise<Cobbler>;
  #cobbler: Cobbler;

  private constructor(name: string, start: () => Promise<Cobbler>, cobbler: Cobbler, proxy: CuttingProxy) {
    this.name = name;
    this.#start = start;
    this.#cobbler = cobbler;
    this.proxy = proxy;
  }

  static async start(name: string, start: () => Promise<Cobbler>, cut: Cut): Promise<Server> {
    const cobbler = await start();
    const proxy = new CuttingProxy(cobbler.url, cut);
    await proxy.listen();
    const server = new Server(name, start, cobbler, proxy);
    endings.push(
      () => server.#cobbler.stop(),
      () => proxy.close(),
    );
    return server;
  }

  get ask(): Cobbler['ask'] {
    return this.#cobbler.ask;
  }

  /** Opens a stream through the proxy. */
  stream: Cobbler['stream'] = (path, headers, signal) =>
    this.#cobbler.stream(path, headers, signal, this.proxy.url);

  async killAndStart(): Promise<void> {
    await this.#cobbler.kill();
    this.#cobbler = await this.#start();
  }

  log(): string {
    return this.#cobbler.log();
  }
}

/** Cuts streams inside a frame or directly after one, until there were enough cuts. */
function cutting(random: SeededRandom, isEnough: () => boolean): Cut {
  return (sent, soFar) => {
    if (soFar === 0 || isEnough() || random.next() > 0.08) return undefined;
    const end = sent.indexOf('\n\n', Math.floor(random.next() * sent.length));
    return random.chance(0.5) && end !== -1 ? end + 2 : Math.floor(random.next() * sent.length);
  };
}

async function startServers(place: Place, folder: string, random: SeededRandom): Promise<Server[]> {
  const [home, cwd] = [join(folder, 'home'), join(folder, 'work')];
  for (const made of [home, cwd]) mkdirSync(made);
  writeFileSync(join(cwd, 'places.txt'), 'There are six places.\n');
  const model = await startModel(() => 5 + random.next() * 40, readingAnswer);
  endings.push(model.close);
  const env = {
    ...{ HOME: home, COBBLER_HOME: home, COBBLER_MODEL: 'claude:claude-proof' },
    ...{ ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: model.key },
  };
  const servers: Server[] = [];
  const cuts = () => servers.reduce((sum, { proxy }) => sum + proxy.cuts, 0);
  for (const name of ['A', 'B']) {
    const port = String(await ownPort());
    const args = ['--yes', '--log-level', 'error', '--port', port, '--store', place.address];
    const start = () => startCobbler(name, { args, env, cwd });
    servers.push(
      await Server.start(
        name,
        start,
        cutting(random, () => cuts() >= wantedCuts),
      ),
    );
  }
  return servers;
}

/** Sends one prompt after another to a session, at one server, and at the other one if that is gone. */
async function prompter(id: string, servers: readonly Server[], prompts: Prompts, isOver: () => boolean) {
  for (let count = 1; !isOver(); count += 1) {
    const key = `${id}-${servers[0]?.name}-${count}`;
    const status = await said(id, key, `Read ${count % 4} times.`, servers);
    prompts.set(status, (prompts.get(status) ?? 0) + 1);
    await pause(20 + ((count * 37) % 120));
  }
}

async function said(id: string, key: string, content: string, servers: readonly Server[]): Promise<string> {
  for (let at = 0; at < 40; at += 1) {
    const server = servers[at % servers.length];
    try {
      const path = `/v1/sessions/${id}/prompt`;
      const answer = await server?.ask('POST', path, { body: { content }, key });
      if (answer !== undefined && answer.status < 500)
        return answer.status === 202 ? 'accepted' : String(answer.json['code']);
    } catch {
      // The server was killed: the same prompt goes to the other one, with the same key.
    }
    await pause(50);
  }
  return 'given up';
}

async function until(what: string, ms: number, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`Timed out after ${ms} ms, waiting until ${what}.`);
    await pause(50);
  }
}

/** Kills the servers in turn, spread over the cuts. */
async function killThem(servers: readonly Server[], cuts: () => number): Promise<number> {
  let kills = 0;
  while (kills < wantedKills) {
    const due = ((kills + 0.5) / wantedKills) * wantedCuts;
    await until(`${due} connections were cut`, playMs, () => cuts() >= due);
    await servers[kills % servers.length]?.killAndStart();
    kills += 1;
  }
  await until(`${wantedCuts} connections were cut`, playMs, () => cuts() >= wantedCuts);
  return kills;
}

/**
 * Sends one last prompt to each session and retries, because a session can stay claimed by a dead process for
 * seconds.
 */
async function endSession(id: string, server: Server): Promise<void> {
  let status = '';
  let tries = 0;
  await until(`${id} accepts a last prompt, found ${status}`, restMs, async () => {
    status = await said(id, `${id}-last-${tries}`, 'Read 1 times.', [server]);
    tries += 1;
    return status === 'accepted';
  });
  await until(`${id} is complete`, restMs, async () => {
    const { json } = await server.ask('GET', `/v1/sessions/${id}`);
    return json['status'] === 'complete';
  });
}

async function play(place: Place, folder: string): Promise<Leg> {
  const start = performance.now();
  const servers = await startServers(place, folder, seededRandom(15));
  const [one, other] = servers;
  if (one === undefined || other === undefined) throw new Error('This test needs two servers.');
  const cuts = () => one.proxy.cuts + other.proxy.cuts;
  const ids = Array.from({ length: sessions }, (_, index) => `session-${index + 1}`);
  for (const id of ids) await one.ask('POST', '/v1/sessions', { body: { id } });
  // Some stay at one server; some continue at the other one after each cut.
  const watchers: Watcher[] = ids.flatMap((id) =>
    [[one], [other], [one, other], [other, one]].map((some) => watchSession(id, some)),
  );
  endings.push(() => Promise.all(watchers.map((watcher) => watcher.stop())));
  note(`${place.name}: two servers, ${watchers.length} readers of ${sessions} sessions`);
  let isOver = false;
  const prompts: Prompts = new Map();
  const prompting = ids.flatMap((id) =>
    [servers, servers.toReversed()].map((some) => prompter(id, some, prompts, () => isOver)),
  );
  const kills = await killThem(servers, cuts).finally(() => {
    isOver = true;
  });
  note(`${place.name}: ${cuts()} connections cut, ${kills} processes killed`);
  await Promise.all(prompting);
  await Promise.all(ids.map((id, index) => endSession(id, index % 2 === 0 ? one : other)));
  const logs = await logsOf(place, ids);
  const isBehind = ({ sessionId, seen }: Watcher) =>
    (seen.events.at(-1)?.id ?? 0) < (logs.get(sessionId)?.length ?? 0);
  await until('each reader has received the last event', restMs, () => !watchers.some(isBehind)).catch(
    (error: Error) => note(`${place.name}: ${error.message}`),
  );
  await pause(lateMs);
  await Promise.all(watchers.map((watcher) => watcher.stop()));
  const seconds = (performance.now() - start) / 1000;
  const notes = servers.map((server) => server.log()).join('');
  return { name: place.name, logs, watchers, prompts, cuts: cuts(), kills, seconds, notes };
}

async function logsOf(place: Place, ids: readonly string[]): Promise<Map<string, readonly Event[]>> {
  const store = place.open();
  try {
    const logs = new Map<string, readonly Event[]>();
    for (const id of ids) logs.set(id, await store.read(id));
    return logs;
  } finally {
    await store.close();
  }
}

// The reader of the output may close it; everything that was started must still be stopped.
process.stdout.on('error', () => {});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => void endAll().finally(() => process.exit(130)));

const names = process.argv.slice(2).filter((word) => word === 'sqlite' || word === 'postgres');
const legs: Leg[] = [];
let failures = 0;
for (const name of names.length > 0 ? names : ['sqlite', 'postgres']) {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-readers-'));
  try {
    legs.push(await play(await placeOf(name, folder), folder));
  } catch (error) {
    failures += 1;
    tell(`FAILED ${name}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  } finally {
    await endAll();
    rmSync(folder, { recursive: true, force: true });
  }
}
const day = new Date().toISOString().slice(0, 10);
tell(
  `\n${day}, Node ${process.versions.node}, ${cpus().length} cores, two cobbler serve (packed and installed) on one store.\n`,
);
const holds = reportLegs(legs, tell);
process.exitCode = holds && failures === 0 ? 0 : 1;
