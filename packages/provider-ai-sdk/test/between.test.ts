import { expect, test } from 'vitest';
import { aiSdkContract, betweenAnthropic, betweenChat, betweenResponses } from '../src/testing/index.ts';
import { anthropic } from './subjects.ts';

test.each([betweenAnthropic, betweenResponses, betweenChat])(
  'what stands between $provider and the service says why for each case that is off',
  ({ lacks, impossible }) => {
    const reasons = [...Object.values(lacks), ...Object.values(impossible)];
    expect(reasons.length).toBeGreaterThan(0);
    expect(reasons.every((reason) => reason.length > 20)).toBe(true);
  },
);

test('a case that is declared impossible and not there is a mistake', () => {
  const impossible = { 'cuts: nothing of the kind': 'no such case is in the contract' };
  expect(() => aiSdkContract(anthropic, { ...betweenAnthropic, impossible })).toThrow(
    /no case "cuts: nothing/,
  );
});

test('no case about cut answers is off [P1]', () => {
  const off = aiSdkContract(anthropic, betweenAnthropic).filter((one) => one.off !== undefined);
  expect(off.map(({ group }) => group)).not.toContain('cuts');
});
