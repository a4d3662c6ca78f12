const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const dayMs = 86_400_000;

/** Formats milliseconds since 1970, a whole number of seconds, as an HTTP date (RFC 9110, 5.6.7). */
export function httpDate(ms: number): string {
  const days = Math.floor(ms / dayMs);
  const seconds = Math.floor((ms - days * dayMs) / 1000);
  const { year, month, day } = civil(days);
  const time = [seconds / 3600, (seconds / 60) % 60, seconds % 60]
    .map((value) => two(Math.floor(value)))
    .join(':');
  // 1 January 1970 was a Thursday.
  return `${weekdays[(days + 4) % 7]}, ${two(day)} ${months[month - 1]} ${year} ${time} GMT`;
}

/**
 * Computes the Gregorian date by counting years and months, which is short and fast enough for a few dates.
 */
function civil(daysSince1970: number): {
  readonly year: number;
  readonly month: number;
  readonly day: number;
} {
  let rest = daysSince1970;
  let year = 1970;
  for (; rest >= daysIn(year); year += 1) rest -= daysIn(year);
  let month = 1;
  for (; rest >= daysOfMonth(year, month); month += 1) rest -= daysOfMonth(year, month);
  return { year, month, day: rest + 1 };
}

function isLeap(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}

function daysIn(year: number): number {
  return isLeap(year) ? 366 : 365;
}

function daysOfMonth(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
