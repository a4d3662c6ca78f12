import { readFileSync } from 'node:fs';
import { eventSchema } from '@cobbler/agent/format';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { shrinkSimulation } from '../src/simulation/shrink.ts';
import type { Simulation } from '../src/simulation/simulate.ts';
import { simulate } from '../src/simulation/simulate.ts';
import { plantedBugs } from './planted-bugs.ts';

const rejected: unknown[] = [];
const note = (reason: unknown) => void rejected.push(reason);

/** Waits for a turn of the event loop, in which Node reports unhandled rejections. */
async function unhandled(): Promise<readonly unknown[]> {
  await new Promise((resolve) => setImmediate(resolve));
  return rejected.splice(0);
}

beforeAll(() => void process.on('unhandledRejection', note));
afterAll(() => void process.off('unhandledRejection', note));

/** Trace fragments that only rare events produce. */
const rare = [
  'finished: complete',
  'finished: max_tokens',
  'finished: refusal',
  'finished: limit',
  'finished: cancelled',
  'finished: timeout',
  'finished: waiting',
  'finished: failed',
  'kill (',
  'take over (',
  'steer (',
  'is accepted',
  'clock jumps (',
  'resumed',
  'compacted',
  'approval_decided',
  'the gate denies',
  'commits after all',
  'cannot be reached',
  'a timer of',
  'level-3: request',
  'runs ended: limit',
  'runs ended: complete',
  'runs ended: timeout',
  'no_progress',
  'stop_requested',
  'the blob store keeps blob',
  'the blob store keeps later blob',
  'the blob store fails blob',
  'the blob store gives blob',
  'ends without its last frame',
  'stops between blocks',
  'power fails (',
  'the power failure loses',
  'append 1 user fails',
  'read fails',
  'read hangs',
  'cuts its last event in the middle',
  'overwrites an event',
  'loses an event',
  'changes an event',
  'repeats an event',
  'swaps two events',
  'is repaired as',
  "'s late reader joins: it reads events",
  "'s late reader joins: it listens",
  "'s late reader joins: it reads text",
  "'s reader at the end joins",
  "'s reader after the end joins",
] as const;

const met = new Set<string>();

function look({ trace }: Simulation): void {
  for (const word of rare) {
    if (!met.has(word) && trace.some((line) => line.includes(word))) met.add(word);
  }
}

describe('runs in a simulated world with random faults', () => {
  test.each(Array.from({ length: 7 }, (_, index) => index * 50 + 1))(
    'keep all promises for 50 seeds from %i [P1, P9, P12]',
    async (first) => {
      for (let seed = first; seed < first + 50; seed += 1) {
        const simulation = await simulate(seed, { unhandled });
        look(simulation);
        expect(simulation.violation, `npm run verify -- simulate --seed ${seed}`).toBeUndefined();
      }
    },
  );

  test('350 seeds cover every kind of event', () => {
    expect(rare.filter((word) => !met.has(word))).toEqual([]);
  });

  test('the same seed gives the same log and the same trace, byte for byte', async () => {
    for (const seed of [3, 17, 42, 163, 1010]) {
      const [first, second] = [await simulate(seed), await simulate(seed)];
      expect(second.log).toBe(first.log);
      expect(second.trace).toEqual(first.trace);
      expect(second.choices).toEqual(first.choices);
    }
  });

  test('every event in a log matches the published schema', async () => {
    for (let seed = 1; seed <= 30; seed += 1) {
      const { log } = await simulate(seed);
      for (const line of log.split('\n')) {
        expect(
          eventSchema.safeParse(JSON.parse(line)).error?.message,
          `seed ${seed}: ${line}`,
        ).toBeUndefined();
      }
    }
  });
});

describe('a failing seed', () => {
  const always = () => Promise.resolve(['something']);

  test('is shrunk to the necessary choices, here none', async () => {
    const failing = await simulate(7, { unhandled: always });
    expect(failing.choices.length).toBeGreaterThan(10);
    const shrunk = await shrinkSimulation(failing, { unhandled: always });
    expect(shrunk.violation).toEqual(failing.violation);
    expect(shrunk.choices).toEqual([]);
  });

  test('is shrunk only while it breaks the same promise', async () => {
    const check = ({ trace }: Simulation) =>
      trace.some((line) => line.includes('pay runs call'))
        ? { rule: 'no pay call', message: 'the tool pay ran' }
        : undefined;
    let failing = await simulate(1, { check });
    for (let seed = 2; failing.violation === undefined; seed += 1) failing = await simulate(seed, { check });
    const shrunk = await shrinkSimulation(failing, { check });
    // The model must make a call, and it must be a call of that tool.
    expect(shrunk.choices.map((choice) => choice.replace(/#.*/, ''))).toEqual(['answer', 'call']);
    expect(shrunk.trace.length).toBeLessThan(60);
  });

  test.each([
    ['stops between blocks', ['weather', 'trouble', 'kind of trouble']],
    ['the power failure loses', ['mishaps', 'mishap', 'events lost']],
    ['is repaired as', ['log damaged', 'damage', 'damaged event']],
    ["'s late reader joins: it listens", ['mishaps', 'mishap', 'kind of reader']],
  ])('is shrunk to the choices that a fault needs: %s', async (fault, needed) => {
    const check = ({ trace }: Simulation) =>
      trace.some((line) => line.includes(fault)) ? { rule: 'a fault', message: fault } : undefined;
    let failing = await simulate(1, { check });
    for (let seed = 2; failing.violation === undefined; seed += 1) failing = await simulate(seed, { check });
    const shrunk = await shrinkSimulation(failing, { check });
    const sites = shrunk.choices.map((choice) => choice.replace(/#.*/, ''));
    expect(sites.filter((site) => needed.includes(site)).length).toBeGreaterThan(0);
    expect(sites.length).toBeLessThan(9);
  });

  test('can be repeated exactly with the removed choices', async () => {
    const failing = await simulate(9, { unhandled: always });
    const shrunk = await shrinkSimulation(failing, { unhandled: always });
    const again = await simulate(9, { unhandled: always, dropped: new Set(shrunk.dropped) });
    expect(again).toEqual(shrunk);
  });

  test('is left unchanged if it breaks no promise', async () => {
    const good = await simulate(1);
    expect(await shrinkSimulation(good)).toBe(good);
  });
});

describe('planted bugs', () => {
  test.each(plantedBugs)('$name is still present in $file', ({ file, find }) => {
    const source = readFileSync(new URL(`../../agent/${file}`, import.meta.url), 'utf8');
    expect(source.split(find).length - 1).toBe(1);
  });
});
