import type { Attack } from '../../../apps/server/test/http/attacks.ts';
import {
  attacked,
  attacks,
  connectAndDrop,
  slowAttacks,
  stalledReader,
} from '../../../apps/server/test/http/attacks.ts';
import type { Programs } from './built.ts';
import type { Part } from './rows.ts';
import { quantile } from './rows.ts';
import { Stage } from './stage.ts';

/** The size of the attack. */
export interface SiegeSize {
  /** Number of times that each attack is repeated. */
  readonly times: number;
  readonly drops: number;
  readonly stalled: number;
  /** Minimum duration in milliseconds. */
  readonly ms: number;
}

/** Runs all attacks at the same time, together with one honest client. */
export async function measureSiege(programs: Programs, home: string, size: SiegeSize): Promise<Part> {
  const stage = await Stage.open('cobbler', programs, home);
  try {
    await stage.makeSession('honest');
    await stage.makeSession('contended');
    await stage.unwatch();
    const before = stage.descriptors();
    const stalled = Array.from({ length: size.stalled }, () => stalledReader(stage.address, 'honest'));
    const [wrong, taken, served] = await Promise.all([
      allAttacks(stage, size),
      twentyAtOnce(stage),
      honestTalk(stage, size.ms),
      drops(stage, size.drops),
    ]);
    const { text } = await stage.caller.ask('GET', '/metrics');
    const dropped = Number(/^cobbler_sse_dropped_total (\d+)$/m.exec(text)?.[1] ?? 0);
    for (const socket of stalled) socket.destroy();
    await stage.unwatch();
    return {
      title: `${(attacks.length + slowAttacks.length) * size.times} attacks of ${attacks.length + slowAttacks.length} kinds, ${size.drops} connects and drops, ${size.stalled} stalled readers, all at the same time`,
      rows: [
        {
          name: 'attacks with an undocumented response',
          value: wrong.length,
          unit: '',
          most: 0,
          note: wrong.slice(0, 3).join('; '),
        },
        {
          name: 'accepted of 20 concurrent prompts, in addition to one',
          value: taken - 1,
          unit: '',
          most: 0,
        },
        { name: 'stalled readers that were not dropped', value: size.stalled - dropped, unit: '', most: 0 },
        { name: 'prompts of the honest client', value: served.length, unit: '' },
        { name: 'until one was accepted: p99', value: quantile(served, 0.99), unit: 'ms' },
        { name: 'additional descriptors', value: stage.descriptors() - before, unit: '', most: 0 },
      ],
    };
  } finally {
    await stage.close();
  }
}

/** Returns the outcome of each attack that did not get the documented response. */
async function allAttacks({ address }: Stage, { times }: SiegeSize): Promise<string[]> {
  const all: readonly (readonly [Attack, number | undefined])[] = [
    ...attacks.map((attack) => [attack, undefined] as const),
    ...slowAttacks.map((attack) => [attack, 500] as const),
  ];
  const outcomes = await Promise.all(
    Array.from({ length: times }, () => all)
      .flat()
      .map(async ([attack, dripMs]) => ({ attack, outcome: await attacked(address, attack, dripMs) })),
  );
  return outcomes
    .filter(({ attack, outcome }) => outcome !== attack.expected)
    .map(({ attack, outcome }) => `${attack.name}: ${outcome} instead of ${attack.expected}`);
}

/**
 * Returns how many of twenty concurrent prompts are accepted. The first one is held, so that none arrives after its
 * end.
 */
async function twentyAtOnce({ caller }: Stage): Promise<number> {
  const path = '/v1/sessions/contended';
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => caller.ask('POST', `${path}/prompt`, { content: 'hold' })),
  );
  await caller.ask('POST', `${path}/cancel`);
  return answers.filter(({ status }) => status === 202).length;
}

/**
 * Sends prompts with responses so long that stalled readers fall behind, and checks that every event arrives once.
 */
async function honestTalk(stage: Stage, ms: number): Promise<number[]> {
  const watcher = await stage.caller.watch('/v1/sessions/honest/events');
  const times: number[] = [];
  const end = performance.now() + ms;
  while (performance.now() < end) {
    const began = performance.now();
    await stage.prompt('honest', 'say 500000');
    times.push(performance.now() - began);
    // The first run existed before.
    await watcher.untilFinished(times.length + 1);
  }
  watcher.drop();
  const wrong = watcher.ids.findIndex((id, index) => id !== index + 1);
  if (wrong !== -1)
    throw new Error(`The honest client received event ${watcher.ids[wrong]} at position ${wrong + 1}.`);
  return times;
}

async function drops({ address }: Stage, count: number): Promise<void> {
  const beginnings = [
    '',
    'GET',
    'POST /prompt HTTP/1.1\r\nhost: 127.0.0.1\r\n',
    'GET /v1/sessions/honest/events HTTP/1.1\r\n',
  ];
  await Promise.all(
    Array.from({ length: count }, (_, index) =>
      connectAndDrop(address, beginnings[index % beginnings.length] ?? ''),
    ),
  );
}
