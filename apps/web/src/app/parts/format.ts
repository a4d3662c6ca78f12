/** Formats a number of tokens: `950`, `12.3k`, `1.2M`. */
export function tokens(count: number): string {
  if (count < 1_000) return String(count);
  const [unit, per] = count < 999_500 ? (['k', 1_000] as const) : (['M', 1_000_000] as const);
  const value = count / per;
  return `${value < 99.95 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)}${unit}`;
}

/** Formats an amount in US dollars, with enough decimal places to show it. */
export function money(usd: number): string {
  if (usd === 0) return '$0';
  if (usd < 0.0001) return '<$0.0001';
  return usd < 0.01 ? `$${usd.toFixed(4)}` : usd < 1 ? `$${usd.toFixed(3)}` : `$${usd.toFixed(2)}`;
}

/** Formats a duration in milliseconds: `12 ms`, `3.4 s`, `2 min 5 s`, `1 h 4 min`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1).replace(/\.0$/, '')} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return joinUnits(Math.floor(seconds / 60), 'min', seconds % 60, 's');
  return joinUnits(Math.floor(seconds / 3_600), 'h', Math.floor((seconds % 3_600) / 60), 'min');
}

function joinUnits(left: number, leftUnit: string, right: number, rightUnit: string): string {
  return right === 0 ? `${left} ${leftUnit}` : `${left} ${leftUnit} ${right} ${rightUnit}`;
}

/** Formats an age for lists: `now`, `5 min`, `3 h`, `2 d`, then the date. */
export function ago(time: string, now: number): string {
  const seconds = (now - Date.parse(time)) / 1_000;
  if (seconds < 60) return 'now';
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h`;
  if (seconds < 7 * 86_400) return `${Math.floor(seconds / 86_400)} d`;
  return new Date(time).toLocaleDateString(undefined, { day: 'numeric', month: 'short' });
}

/** Formats a part of a whole in percent. */
export function share(part: number, whole: number): string {
  return whole === 0 ? '0%' : `${Math.round((part / whole) * 100)}%`;
}

/** Formats a count with its noun: `1 line`, `3 lines`. */
export function counted(count: number, what: string): string {
  return `${count.toLocaleString('en')} ${what}${count === 1 ? '' : 's'}`;
}

/** Formats a size in bytes: `12 B`, `3.4 KB`, `2.1 MB`. */
export function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
