import { readFileSync } from 'node:fs';
import { eventSchema } from '@cobbler/agent/format';
import { describe, expect, test } from 'vitest';
import { shrinkSimulation } from '../src/simulation/shrink.ts';
import type { Simulation } from '../src/simulation/simulate.ts';
import { simulate } from '../src/simulation/simulate.ts';
import { plantedBugs } from './planted-bugs.ts';
import { recordUnhandled } from './unhandled.ts';

const unhandled = recordUnhandled();

describe('runs in a simulated world with random faults', () => {
  test.each([1, 51])('keep all promises for 50 seeds from %i [P1, P9, P12]', async (first) => {
    for (let seed = first; seed < first + 50; seed += 1) {
      const { violation } = await simulate(seed, { unhandled });
      expect(violation, `npm run verify -- simulate --seed ${seed}`).toBeUndefined();
    }
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
