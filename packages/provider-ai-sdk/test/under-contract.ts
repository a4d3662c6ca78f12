import { describeWays } from '@cobbler/conformance/msw';
import { afterAll, describe, it } from 'vitest';
import { subjects } from './subjects.ts';

/** Runs the contract over the model of this name. Each has a file of its own, so that they run side by side. */
export function putUnderContract(name: string): void {
  const subject = subjects.find((one) => one.name === name);
  if (subject === undefined) throw new RangeError(`There is no subject named ${name}.`);
  // `npm run verify -- contract` tries more.
  describeWays(subject, { describe, it, afterAll }, { seeds: { count: 5 }, print: console.log });
}
