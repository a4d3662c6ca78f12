import { describe, test } from 'vitest';
import { subjects } from './subjects.ts';

/** `npm run contract` tries more. */
const seeds = { count: 5 };

/** Runs the contract over the model of this name. Each has a file of its own, so that they run side by side. */
export function putUnderContract(name: string): void {
  const subject = subjects.find((one) => one.name === name);
  if (subject === undefined) throw new RangeError(`There is no subject named ${name}.`);
  describe(`agentContract, ${name}`, () => {
    for (const { group, name: what, run, off } of subject.cases({ seeds }))
      test(`${group}: ${what}`, { timeout: 120_000 }, ({ skip }) => (off === undefined ? run() : skip(off)));
  });
}
