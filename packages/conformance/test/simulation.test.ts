import { readFileSync } from 'node:fs';
import { eventSchema } from '@cobbler/agent/format';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { shrinkSimulation } from '../src/simulation/shrink.ts';
import type { Simulation } from '../src/simulation/simulate.ts';
import { simulate } from '../src/simulation/simulate.ts';
import { plantedBugs } from './planted-bugs.ts';

const rejected: unknown[] = [];
const note = (reason: unknown) => void rejected.push(reason);

/** A turn of the event loop is when Node tells. */
async function unhandled(): Promise<readonly unknown[]> {
  await new Promise((resolve) => setImmediate(resolve));
  return rejected.splice(0);
}

beforeAll(() => void process.on('unhandledRejection', note));
afterAll(() => void process.off('unhandledRejection', note));

/** Words of the trace that only something rare leaves behind. */
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
  'is heard',
  'clock jumps (',
  'resumed',
  'compacted',
  'approval_decided',
  'the gate denies',
  'commits after all',
  'is unreachable',
  'a timer of',
  'level-3: request',
  'runs is over: limit',
  'runs is over: complete',
  'runs is over: timeout',
  'no_progress',
  'stop_requested',
  'the cellar keeps blob',
  'the cellar keeps later blob',
  'the cellar fails blob',
  'the cellar gives blob',
] as const;

const met = new Set<string>();

function look({ trace }: Simulation): void {
  for (const word of rare) {
    if (!met.has(word) && trace.some((line) => line.includes(word))) met.add(word);
  }
}

describe('whole runs in a world where anything may go wrong', () => {
  test.each(Array.from({ length: 10 }, (_, index) => index * 50 + 1))(
    'and what else the simulation watches hold for 50 seeds from %i [P1, P9, P12]',
    async (first) => {
      for (let seed = first; seed < first + 50; seed += 1) {
        const simulation = await simulate(seed, { unhandled });
        look(simulation);
        expect(simulation.violation, `npm run verify -- simulate --seed ${seed}`).toBeUndefined();
      }
    },
  );

  test('the 500 seeds meet everything that can happen', () => {
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

  test('every event in a log is one of the published format', async () => {
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

describe('a seed that fails', () => {
  const always = () => Promise.resolve(['something']);

  test('is shrunk to the choices that matter, here to none', async () => {
    const failing = await simulate(7, { unhandled: always });
    expect(failing.choices.length).toBeGreaterThan(10);
    const shrunk = await shrinkSimulation(failing, { unhandled: always });
    expect(shrunk.violation).toEqual(failing.violation);
    expect(shrunk.choices).toEqual([]);
  });

  test('is shrunk no further than to where the same promise is broken', async () => {
    const check = ({ trace }: Simulation) =>
      trace.some((line) => line.includes('pay runs call'))
        ? { rule: 'nobody is paid', message: 'somebody was paid' }
        : undefined;
    let failing = await simulate(1, { check });
    for (let seed = 2; failing.violation === undefined; seed += 1) failing = await simulate(seed, { check });
    const shrunk = await shrinkSimulation(failing, { check });
    // A call has to be made, and it has to be of that tool.
    expect(shrunk.choices.map((choice) => choice.replace(/#.*/, ''))).toEqual(['answer', 'call']);
    expect(shrunk.trace.length).toBeLessThan(60);
  });

  test('plays again exactly with the choices that were left out', async () => {
    const failing = await simulate(9, { unhandled: always });
    const shrunk = await shrinkSimulation(failing, { unhandled: always });
    const again = await simulate(9, { unhandled: always, dropped: new Set(shrunk.dropped) });
    expect(again).toEqual(shrunk);
  });

  test('one that keeps every promise is left as it is', async () => {
    const good = await simulate(1);
    expect(await shrinkSimulation(good)).toBe(good);
  });
});

describe('planted bugs', () => {
  test.each(plantedBugs)('$name has its place in $file', ({ file, find }) => {
    const source = readFileSync(new URL(`../../agent/${file}`, import.meta.url), 'utf8');
    expect(source.split(find).length - 1).toBe(1);
  });
});
