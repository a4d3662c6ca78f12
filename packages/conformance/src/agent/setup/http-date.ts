import { isoTime } from '@cobbler/agent/values';

const weekdays = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Formats milliseconds since 1970, a whole number of seconds, as an HTTP date (RFC 9110, 5.6.7). */
export function httpDate(ms: number): string {
  const [date = '', time] = isoTime(ms).split(/[T.]/);
  const [year, month, day] = date.split('-');
  // 1 January 1970 was a Thursday.
  const weekday = weekdays[(Math.floor(ms / 86_400_000) + 4) % 7];
  return `${weekday}, ${day} ${months[Number(month) - 1]} ${year} ${time} GMT`;
}
