import { isoTime } from '@cobbler/agent/values';

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/**
 * Formats milliseconds since 1970, a whole number of seconds, as an HTTP date (RFC 9110, 5.6.7): in the usual form,
 * such as `Sun, 06 Nov 1994 08:49:37 GMT`, or in one of two obsolete forms that clients must accept.
 */
export function httpDate(ms: number, form: 'usual' | 'older' | 'oldest' = 'usual'): string {
  const [date = '', time] = isoTime(ms).split(/[T.]/);
  const [year = '', number, day = ''] = date.split('-');
  const month = months[Number(number) - 1];
  // 1 January 1970 was a Thursday.
  const weekday = weekdays[(Math.floor(ms / 86_400_000) + 4) % 7] ?? '';
  const short = weekday.slice(0, 3);
  if (form === 'older') return `${weekday}, ${day}-${month}-${year.slice(2)} ${time} GMT`;
  if (form === 'oldest') return `${short} ${month} ${day.replace(/^0/, ' ')} ${time} ${year}`;
  return `${short}, ${day} ${month} ${year} ${time} GMT`;
}
