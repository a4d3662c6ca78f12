/** Formats a duration: `3 ms`, `0.3 s`, `12.4 s`, `2 m 05 s`. */
export function formatMs(ms: number): string {
  if (ms < 99.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  return formatSeconds(ms);
}

/** Formats a running duration in whole seconds, so that it does not flicker. */
export function formatSeconds(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} m ${pad(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${pad(minutes % 60)} m`;
}

function pad(value: number): string {
  return String(value).padStart(2, '0');
}

/** Formats a count: `310`, `9.1k`, `12k`, `1M`. */
export function formatCount(count: number): string {
  if (count < 1000) return String(count);
  if (count < 9950) return `${(count / 1000).toFixed(1).replace(/\.0$/, '')}k`;
  if (count < 999_500) return `${Math.round(count / 1000)}k`;
  return `${(count / 1_000_000).toFixed(1).replace(/\.0$/, '')}M`;
}

/** Formats an amount in US dollars: `$0.012`, `$1.50`; `<$0.001` if it is too small to show. */
export function formatUsd(usd: number): string {
  if (usd > 0 && usd < 0.0005) return '<$0.001';
  return `$${usd.toFixed(usd !== 0 && usd < 0.9995 ? 3 : 2)}`;
}

/** Formats a time in a time zone, such as `Mon 2026-12-07 09:00 Europe/Berlin`. */
export function formatTime(ms: number | undefined, timeZone: string): string {
  if (ms === undefined) return 'never';
  const day = new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'short' }).format(ms);
  const date = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' });
  return `${day} ${date.format(ms)} ${timeZone}`;
}

/** Formats a price: `$0.10`. */
export function formatPrice(usd: number): string {
  return `$${usd.toFixed(2)}`;
}

/** Returns a count with its noun: `1 turn`, `2 turns`. */
export function plural(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Reads `90`, `90s`, `10m`, `1h30m`, `500ms` as milliseconds; a bare number is seconds. */
export function parseDuration(text: string): number | undefined {
  const clean = text.trim().toLowerCase().replaceAll(' ', '');
  if (/^\d+(\.\d+)?$/.test(clean)) return positiveOrNone(Number(clean) * 1000);
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(clean)) return undefined;
  let total = 0;
  for (const [, amount, unit] of clean.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)) {
    total += Number(amount) * (unitMs[unit ?? ''] ?? 0);
  }
  return positiveOrNone(total);
}

/** Reads an age such as `30d`, `12h` or `4w` as milliseconds. */
export function parseAge(text: string): number | undefined {
  const [, amount, unit = ''] = /^(\d+(?:\.\d+)?)\s*([hdw])$/.exec(text.trim()) ?? [];
  const hours = { h: 1, d: 24, w: 168 }[unit];
  return amount === undefined || hours === undefined ? undefined : Number(amount) * hours * 3_600_000;
}

/** Reads a duration or `never`: `10m`, `never`. */
export function parseSpan(text: string): number | undefined {
  return /^(never|0)$/.test(text.trim()) ? 0 : parseDuration(text);
}

/** Reads a whole number above zero, with an optional `k` or `M` at its end. */
export function parseCount(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)([kM]?)$/.exec(text.trim());
  if (match === null) return undefined;
  const count = Number(match[1]) * ({ k: 1000, M: 1_000_000 }[match[2] ?? ''] ?? 1);
  return Number.isInteger(count) ? positiveOrNone(count) : undefined;
}

/** Reads the same numbers as {@link parseCount}, and `never` or 0 as 0. */
export function parseBound(text: string): number | undefined {
  return /^(never|0)$/.test(text.trim()) ? 0 : parseCount(text);
}

/** Reads an amount of US dollars above zero, with or without `$`. */
export function parseUsd(text: string): number | undefined {
  const match = /^\$?(\d+(?:\.\d+)?|\.\d+)$/.exec(text.trim());
  return match === null ? undefined : positiveOrNone(Number(match[1]));
}

/** Reads an amount of dollars, tokens or requests. */
export function parseMore(text: string): number | undefined {
  return parseUsd(text) ?? parseCount(text);
}

function positiveOrNone(value: number): number | undefined {
  return Number.isFinite(value) && value > 0 ? value : undefined;
}
