import type { Mutant } from './mutant.ts';

const limits = 'src/limits.ts';
const ask = 'src/ask.ts';

/** Mistakes in what may be spent and in what is booked. */
export const moneyMutants: readonly Mutant[] = [
  {
    file: limits,
    find: 'this.#heldTokens += tokens;',
    replace: '',
    why: 'work side by side spends the same tokens twice',
    breaks: ['B1'],
    by: 'test/limits.test.ts',
  },
  {
    file: limits,
    find: 'this.#heldUsd += usd;',
    replace: '',
    why: 'work side by side spends the same money twice',
    breaks: ['B1'],
    by: 'test/limits.test.ts',
  },
  {
    file: limits,
    find: 'if (!open) return;\n        open = false;',
    replace: 'open = false;',
    why: 'a call settled twice gives back more than it held',
    breaks: ['B2'],
    by: 'test/limits.test.ts',
  },
  {
    file: limits,
    find: 'this.#tokens += usedTokens - bookedTokens;',
    replace: 'this.#tokens += usedTokens;',
    why: 'what failed attempts used is booked twice',
    breaks: ['B2', 'P14'],
    by: 'test/limits.test.ts',
  },
  {
    file: limits,
    find: 'if (!open || !fits) return false;',
    replace: 'if (!open) return false;',
    why: 'another attempt is made that the limit has no room for',
    breaks: ['B1'],
    by: 'test/limits.test.ts',
  },
  {
    file: limits,
    find: 'if (usd > this.usdLeft)',
    replace: 'if (usd > this.#limits.usd)',
    why: 'every call may spend the whole limit',
    breaks: ['B1', 'P1'],
    by: 'test/limits.test.ts',
  },
  {
    file: ask,
    find: 'const used = [response.usage, response.wasted];',
    replace: 'const used = [response.usage];',
    why: 'failed attempts of an answer cost nothing',
    breaks: ['B2', 'P14'],
    by: 'test/left-behind.test.ts',
  },
  {
    file: ask,
    find: 'const used = [error.wasted ?? noUsage];',
    replace: 'const used = [noUsage];',
    why: 'a failed request costs nothing',
    breaks: ['B2', 'P14'],
    by: 'executor: limits',
  },
  {
    file: ask,
    find: 'if (budget.limitsMoney && price === undefined && !work.allowUnpriced) throw unpriced(agent.model);',
    replace: '',
    why: 'an unknown price is taken for free',
    breaks: ['B3'],
    by: 'executor: limits',
  },
  {
    file: ask,
    find: 'const inputUsd = price === undefined ? 0 : dearestInput(inputTokens, price);',
    replace: 'const inputUsd = price === undefined ? 0 : 0 * dearestInput(inputTokens, price);',
    why: 'the price of the input is not held back',
    breaks: ['B1'],
    by: 'executor: limits',
  },
  {
    file: ask,
    find: 'costOf(usage, price) + costOf(wasted, price)',
    replace: 'costOf(usage, price)',
    why: 'an answer does not say what its failed attempts cost',
    breaks: ['P14'],
    by: 'executor: metrics',
  },
];
