import { describeWays } from '@cobbler/conformance/msw';
import { afterAll, describe, expect, it, test } from 'vitest';
import { subjects } from './subjects.ts';

for (const subject of subjects) {
  describeWays(subject, { describe, it, afterAll }, { print: console.log });

  test(`${subject.name} declares at most six unsupported features, each with a reason`, () => {
    const reasons = Object.values(subject.testing.lacks);
    expect(reasons.length).toBeLessThanOrEqual(6);
    expect(reasons.every((reason) => reason.length > 20)).toBe(true);
  });
}
