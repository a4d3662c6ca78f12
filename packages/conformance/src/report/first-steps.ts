import type { ContractProblem } from './run-contract.ts';

/** A function that a template leaves to its author throws this: the file, the function, and what it has to do. */
const unwritten = /\bsrc\/[\w./-]+\.ts, (\w+): [^\n]*?(?=\.(?:[\s"]|$)|$)/;

/** The order in which the parts of a provider are best written: a request first, then a response, then failures. */
const order = ['turn', 'envelope', 'read', 'begin', 'open', 'delta', 'end', 'event', 'error', 'fault'];

const maxSteps = 3;

/**
 * Returns at most five lines that name what an author writes first, or none when every failure is of code that is
 * written.
 */
export function firstSteps(failures: readonly ContractProblem[]): string[] {
  const steps = new Map<string, number>();
  for (const { message } of failures) {
    const [step = '', name = ''] = unwritten.exec(message) ?? [];
    if (step !== '') steps.set(step, order.includes(name) ? order.indexOf(name) : order.length);
  }
  if (steps.size === 0) return [];
  const first = [...steps].sort(([, left], [, right]) => left - right).slice(0, maxSteps);
  return [
    'The contract is not run: parts of the package are not written yet. Write first:',
    ...first.map(([step], at) => `  ${at + 1}. ${step}`),
    'Then run the contract again: it names the next part.',
  ];
}
