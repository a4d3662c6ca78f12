import { expect, test } from 'vitest';
import { dayStarts } from '../../src/store/costs.ts';
import { localDates } from '../../src/store/local-date.ts';

const quarterMs = 900_000;
const from = Date.parse('2026-03-01T00:00:00.000Z') / quarterMs + 7;
const to = Date.parse('2026-12-01T00:00:00.000Z') / quarterMs;

test.each([
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Pacific/Chatham',
])('days in %s start where the date changes, also when the clocks change', (timeZone) => {
  const dayOf = localDates('day', timeZone);
  const expected = [from];
  for (let quarter = from + 1; quarter <= to; quarter += 1)
    if (dayOf(quarter * quarterMs) !== dayOf((quarter - 1) * quarterMs)) expected.push(quarter);
  expect(dayStarts(from, to, timeZone)).toEqual(expected);
  expect(expected.length).toBeGreaterThan(274);
});

test('a period that ends before it starts has no days', () => {
  expect(dayStarts(2, 1)).toEqual([]);
});
