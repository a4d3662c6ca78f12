import { beforeAll, expect, test } from 'vitest';
import { performSpenders, withinBound } from '../src/ledger/spenders.ts';
import { warmUp } from '../src/ledger/stage.ts';
import { bridged, subjects } from '../src/ledger/subjects.ts';

const all = [...subjects, ...bridged];

beforeAll(() => warmUp(all));

test.each(all)(
  '$name: the log of a tree of runs has what the service charges, through failures and cancellation [P14]',
  async (one) => {
    const kinds = new Set<string>();
    for (let seed = 1; seed <= 12; seed += 1) {
      const totals = await performSpenders(one, seed);
      expect([seed, withinBound(totals, one)]).toEqual([seed, true]);
      expect(totals.metrics.usd).toBeCloseTo(totals.logged, 9);
      for (const kind of totals.kinds) kinds.add(kind);
    }
    for (const kind of ['agent', 'delegate', 'memory', 'compacted', 'assistant'])
      expect(kinds).toContain(kind);
  },
);
