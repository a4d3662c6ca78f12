import type { ContractProblem } from './run-contract.ts';

/**
 * Matches the error that an unwritten function of the template throws: the file, the function and its task.
 */
const unwritten = /\bsrc\/[\w./-]+\.ts, (\w+): [^\n]*?(?=\.(?:[\s"]|$)|$)/;

/**
 * The recommended order of writing the parts of a provider: requests first, then responses, then failures.
 */
const order = ['turn', 'envelope', 'read', 'begin', 'open', 'delta', 'end', 'event', 'error', 'fault'];

const maxSteps = 3;

/**
 * Returns at most five lines with the parts to write first, or no lines if no failure comes from unwritten
 * code.
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
    'The contract was not run: parts of the package are not written yet. Write first:',
    ...first.map(([step], at) => `  ${at + 1}. ${step}`),
    'Then run the contract again. It names the next part.',
  ];
}
