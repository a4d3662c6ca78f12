import { expect, test } from 'vitest';
import { aiSdkContract, betweenAnthropic, betweenChat, betweenResponses } from '../src/testing/index.ts';
import { anthropic } from './subjects.ts';

test.each([betweenAnthropic, betweenResponses, betweenChat])(
  'has a reason for each disabled case of $provider',
  ({ lacks, impossible }) => {
    const reasons = [...Object.values(lacks), ...Object.values(impossible)];
    expect(reasons.length).toBeGreaterThan(0);
    expect(reasons.every((reason) => reason.length > 20)).toBe(true);
  },
);

test('rejects an impossible case that is not in the contract', () => {
  const impossible = { 'cuts: nothing of the kind': 'no such case is in the contract' };
  expect(() => aiSdkContract(anthropic, { ...betweenAnthropic, impossible })).toThrow(
    /no case "cuts: nothing/,
  );
});

test('disables no case about truncated responses [P1]', () => {
  const off = aiSdkContract(anthropic, betweenAnthropic).filter((one) => one.off !== undefined);
  expect(off.map(({ group }) => group)).not.toContain('cuts');
});
