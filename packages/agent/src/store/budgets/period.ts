import { isoTime } from '../../values/runtime.ts';
import { localDates } from '../local-date.ts';
import type { BudgetDefinition } from './definition.ts';

const hourMs = 3_600_000;

/** Longer than any month. */
const searchMs = 32 * 24 * hourMs;

/** Returns the key of a budget's period at a time in milliseconds since 1970. Later periods have greater keys. */
export function periodAt(definition: BudgetDefinition, now: number, runId: string): string {
  switch (definition.per) {
    case 'run':
      return runId;
    case 'hour':
      return isoTime(now).slice(0, 13);
    case 'day':
    case 'month':
      return localDates(definition.per, definition.timeZone)(now);
    default:
      return '';
  }
}

/** Returns the time at which the period ends, in milliseconds since 1970; undefined if time does not end it. */
export function periodEnd(definition: BudgetDefinition, now: number): number | undefined {
  const { per } = definition;
  if (per === 'hour') return (Math.floor(now / hourMs) + 1) * hourMs;
  if (per !== 'day' && per !== 'month') return undefined;
  const keyAt = localDates(per, definition.timeZone);
  const key = keyAt(now);
  let before = now;
  let after = now + searchMs;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (keyAt(middle) > key) after = middle;
    else before = middle;
  }
  return after;
}
