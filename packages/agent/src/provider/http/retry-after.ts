import { argumentError } from '../../values/errors.ts';
import { utcTime } from '../../values/runtime.ts';

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/**
 * Returns how long a response asks the client to wait, in milliseconds, from `retry-after-ms` or `retry-after` (seconds
 * or an HTTP date). Returns undefined for zero, negative, past and invalid values.
 *
 * @param now wall clock in milliseconds since 1970, called only to interpret a date.
 */
export function retryAfterOf(
  header: (name: string) => string | undefined,
  now: () => number,
): number | undefined {
  try {
    return (
      usableWait(numberIn(header('retry-after-ms'))) ?? usableWait(waitIn(header('retry-after')?.trim(), now))
    );
  } catch (thrown) {
    throw argumentError('retryAfterOf', thrown);
  }
}

/** Returns a usable delay, or undefined. */
export function usableWait(ms: number | undefined): number | undefined {
  if (ms === undefined || !(ms > 0)) return undefined;
  return Math.min(ms, Number.MAX_SAFE_INTEGER);
}

function waitIn(text: string | undefined, now: () => number): number | undefined {
  const seconds = numberIn(text);
  if (seconds !== undefined) return seconds * 1000;
  const date = text === undefined ? undefined : httpDate(text);
  return date === undefined ? undefined : date - now();
}

function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}

/** Parses `Sun, 06 Nov 1994 08:49:37 GMT`, or an older format (RFC 9110, 5.6.7), to milliseconds since 1970. */
function httpDate(given: string): number | undefined {
  const match = /^\w+, (\d\d)[ -](\w{3})[ -](\d{4}|\d\d) (\d\d):(\d\d):(\d\d) GMT$/i.exec(defaultForm(given));
  if (match === null) return undefined;
  const [, date, name, years, hours, minutes, seconds] = match;
  const month = months.indexOf((name ?? '').toLowerCase());
  if (month < 0) return undefined;
  const year = Number(years) + (years?.length === 2 ? 2000 : 0);
  return utcTime(year, month, Number(date), Number(hours), Number(minutes), Number(seconds));
}

/** Converts the oldest format, `Sun Nov  6 08:49:37 1994`, which has the same parts in another order. */
function defaultForm(text: string): string {
  const match = /^(\w{3}) (\w{3}) ([\d ]\d) ([\d:]+) (\d{4})$/.exec(text);
  if (match === null) return text;
  const [, day, month, date, time, year] = match;
  return `${day}, ${date?.replace(' ', '0')} ${month} ${year} ${time} GMT`;
}
