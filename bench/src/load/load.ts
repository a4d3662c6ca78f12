import { randomUUID } from 'node:crypto';
import { seededRandom } from '@cobbler/agent/testing';
import { pause } from '../server/stage.ts';
import type { Target } from './client.ts';
import { Client } from './client.ts';
import { Figures } from './figures.ts';
import { Reader } from './reader.ts';
import type { Sayings } from './talker.ts';
import { Talker } from './talker.ts';

/** The size of the load. */
export interface LoadSize {
  readonly sessions: number;
  /** Number of readers in addition to one per active session. */
  readonly watchers: number;
  readonly seconds: number;
  readonly seed: number;
  /** True to keep the sessions on the server. */
  readonly keeps: boolean;
}

/** The result of the load. */
export interface LoadReport {
  readonly lines: readonly string[];
  /** True if no event was lost or duplicated, no request failed, and at least one prompt completed. */
  readonly isGood: boolean;
}

/** Time limit for the last events to reach every reader, in milliseconds. */
const settleMs = 15_000;

/** Simulates users that prompt, cancel, approve and watch on a server for a limited time, and counts the results. */
export async function load(target: Target, sayings: Sayings, size: LoadSize): Promise<LoadReport> {
  const figures = new Figures();
  const client = new Client(target, figures);
  const random = seededRandom(size.seed);
  const name = `load-${randomUUID().slice(0, 8)}`;
  const ids = Array.from({ length: size.sessions }, (_, index) => `${name}-${index}`);
  const made = await Promise.all(
    ids.map((id) => client.ask('a session is made', 201, 'POST', '/v1/sessions', { id })),
  );
  const usable = ids.filter((_, index) => made[index] !== undefined);
  if (usable.length === 0) return { lines: figures.lines(), isGood: false };
  const talkers = usable.map((id) => new Talker(client, id, figures, random));
  const watchers = Array.from(
    { length: size.watchers },
    (_, index) => new Reader(target, usable[index % usable.length] ?? '', figures),
  );
  const began = performance.now();
  const isOver = () => performance.now() - began >= size.seconds * 1000;
  const tunnels = dropping(watchers, isOver, random);
  await Promise.all(talkers.map((talker, index) => talker.talk(sayings, index, isOver)));
  const tookSeconds = (performance.now() - began) / 1000;
  await tunnels;
  const readers = [...talkers.map(({ reader }) => reader), ...watchers];
  await settle(client, usable, readers);
  if (!size.keeps)
    await Promise.all(
      usable.map((id) => client.ask('a session is deleted', 204, 'DELETE', `/v1/sessions/${id}`)),
    );
  return reportOf(figures, readers, tookSeconds, `${usable.length} sessions, ${readers.length} readers`);
}

/** Disconnects one of the readers four times a second; it reconnects. */
async function dropping(
  watchers: readonly Reader[],
  isOver: () => boolean,
  random: ReturnType<typeof seededRandom>,
): Promise<void> {
  while (!isOver() && watchers.length > 0) {
    await pause(250);
    random.pick(watchers).drop();
  }
}

/** Waits until every reader has the last event of its session, and disconnects it. */
async function settle(client: Client, ids: readonly string[], readers: readonly Reader[]): Promise<void> {
  const last = new Map<string, number>();
  for (const id of ids) {
    const info = await client.ask('a session is read', 200, 'GET', `/v1/sessions/${id}`);
    last.set(id, Number(info?.['events'] ?? 0));
  }
  await Promise.all(readers.map((reader) => reader.leave(last.get(reader.sessionId) ?? 0, settleMs)));
}

function reportOf(figures: Figures, readers: readonly Reader[], seconds: number, what: string): LoadReport {
  const sum = (of: (reader: Reader) => number) => readers.reduce((total, reader) => total + of(reader), 0);
  const [lost, doubled, cuts] = [
    sum(({ lost }) => lost),
    sum(({ doubled }) => doubled),
    sum(({ cuts }) => cuts),
  ];
  const [events, prompts] = [sum(({ seen }) => seen), figures.count('a prompt is accepted')];
  const isGood = lost === 0 && doubled === 0 && figures.errors === 0 && events > 0;
  return {
    isGood,
    lines: [
      `${what}, ${seconds.toFixed(1)} s: ${(prompts / seconds).toFixed(1)} prompts and ${(events / seconds).toFixed(1)} events to readers per second`,
      ...figures.lines(),
      `events lost: ${lost}, duplicated: ${doubled}; streams cut by the server: ${cuts}`,
      isGood ? 'good' : 'NOT GOOD',
    ],
  };
}
