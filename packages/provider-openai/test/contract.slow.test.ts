import { agentContract } from '@cobbler/conformance';
import { describe, expect, test } from 'vitest';
import { subjects } from './subjects.ts';

for (const subject of subjects) {
  describe(`agentContract, ${subject.name}`, () => {
    for (const { group, name, run, off } of agentContract(subject)) {
      test(`${group}: ${name}`, ({ skip }) => (off === undefined ? run() : skip(off)));
    }
  });

  test(`${subject.name} lacks at most five things, each with a reason`, () => {
    const reasons = Object.values(subject.testing.lacks);
    expect(reasons.length).toBeLessThanOrEqual(5);
    expect(reasons.every((reason) => reason.length > 20)).toBe(true);
  });
}
