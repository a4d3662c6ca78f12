import type { Attack } from '../../../apps/server/test/attacks.ts';
import {
  attacked,
  attacks,
  connectAndDrop,
  slowAttacks,
  stalledReader,
} from '../../../apps/server/test/attacks.ts';
import type { Programs } from './built.ts';
import type { Part } from './rows.ts';
import { quantile } from './rows.ts';
import { Stage } from './stage.ts';

/** How hard a server is attacked. */
export interface SiegeSize {
  /** How often each attack comes. */
  readonly times: number;
  readonly drops: number;
  readonly stalled: number;
  /** How long it goes on at least, in milliseconds. */
  readonly ms: number;
}

/** All that bad clients do, all at once, beside one that only wants to talk. */
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
      title: `${(attacks.length + slowAttacks.length) * size.times} attacks of ${attacks.length + slowAttacks.length} kinds, ${size.drops} connects and drops, ${size.stalled} stalled readers, all at once`,
      rows: [
        {
          name: 'attacks with another answer than documented',
          value: wrong.length,
          unit: '',
          most: 0,
          note: wrong.slice(0, 3).join('; '),
        },
        { name: 'of 20 prompts at once, taken beside one', value: taken - 1, unit: '', most: 0 },
        { name: 'stalled readers that were not dropped', value: size.stalled - dropped, unit: '', most: 0 },
        { name: 'prompts of the honest client', value: served.length, unit: '' },
        { name: 'until one was accepted: p99', value: quantile(served, 0.99), unit: 'ms' },
        { name: 'descriptors more than before', value: stage.descriptors() - before, unit: '', most: 0 },
      ],
    };
  } finally {
    await stage.close();
  }
}

/** What each attack got that got something else than it should. */
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

/** How many of twenty prompts that come at once are taken. The first is held, so that none comes after its end. */
async function twentyAtOnce({ caller }: Stage): Promise<number> {
  const path = '/v1/sessions/contended';
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => caller.ask('POST', `${path}/prompt`, { content: 'hold' })),
  );
  await caller.ask('POST', `${path}/cancel`);
  return answers.filter(({ status }) => status === 202).length;
}

/** Talks on, with answers so long that readers who take nothing fall behind, and sees that every event comes once. */
async function honestTalk(stage: Stage, ms: number): Promise<number[]> {
  const watcher = await stage.caller.watch('/v1/sessions/honest/events');
  const times: number[] = [];
  const end = performance.now() + ms;
  while (performance.now() < end) {
    const began = performance.now();
    await stage.prompt('honest', 'say 500000');
    times.push(performance.now() - began);
    // The first run was there before.
    await watcher.untilFinished(times.length + 1);
  }
  watcher.drop();
  const wrong = watcher.ids.findIndex((id, index) => id !== index + 1);
  if (wrong !== -1)
    throw new Error(`The honest client got event ${watcher.ids[wrong]} at place ${wrong + 1}.`);
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
