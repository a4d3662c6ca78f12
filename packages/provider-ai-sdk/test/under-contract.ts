import { describeWays } from '@cobbler/conformance/msw';
import { afterAll, describe, it } from 'vitest';
import { subjects } from './subjects.ts';

/** Runs the contract for one subject. Each has its own test file, so they run in parallel. */
export function putUnderContract(name: string): void {
  const subject = subjects.find((one) => one.name === name);
  if (subject === undefined) throw new RangeError(`Unknown subject: ${name}.`);
  // `npm run verify -- contract` runs more seeds.
  describeWays(subject, { describe, it, afterAll }, { seeds: { count: 5 }, print: console.log });
}
