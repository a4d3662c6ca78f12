import { describe, expect, test } from 'vitest';
import { shrinkSimulation } from '../src/simulation/shrink.ts';
import type { Simulation } from '../src/simulation/simulate.ts';
import { simulate } from '../src/simulation/simulate.ts';
import { recordUnhandled } from './unhandled.ts';

const unhandled = recordUnhandled();

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
    'keep all promises for 50 seeds from %i',
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
});

describe('a failing seed', () => {
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
});
