/** By time zone. Creating one takes longer than all other work of a reservation. */
const formats = new Map<string, Intl.DateTimeFormat>();

/** Returns a function from a time to the local date, `2026-01-31`, or the local month, `2026-01`. */
export function localDates(per: 'day' | 'month', timeZone = 'UTC'): (time: number) => string {
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
