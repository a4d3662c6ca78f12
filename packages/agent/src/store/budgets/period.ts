import { isoTime } from '../../values/runtime.ts';
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
      return dateKeys(definition)(now);
    default:
      return '';
  }
}

/** Returns the time at which the period ends, in milliseconds since 1970; undefined if time does not end it. */
export function periodEnd(definition: BudgetDefinition, now: number): number | undefined {
  const { per } = definition;
  if (per === 'hour') return (Math.floor(now / hourMs) + 1) * hourMs;
  if (per !== 'day' && per !== 'month') return undefined;
  const keyAt = dateKeys(definition);
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

/** By time zone. Creating one takes longer than all other work of a reservation. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns a function from a time to the local date, `2026-01-31`, or the local month, `2026-01`. */
function dateKeys({ per, timeZone = 'UTC' }: BudgetDefinition): (time: number) => string {
  const format = formats.get(timeZone) ?? dateFormat(timeZone);
  formats.set(timeZone, format);
  return (time) => {
    const parts = format.formatToParts(time);
    const part = (type: 'year' | 'month' | 'day') => parts.find((each) => each.type === type)?.value ?? '';
    const month = `${part('year')}-${part('month')}`;
    return per === 'month' ? month : `${month}-${part('day')}`;
  };
}

function dateFormat(timeZone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
}
