/** One figure, and what was promised about it. */
export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The most that is allowed. Absent: a figure to know, nothing was promised. */
  readonly most?: number;
  readonly note?: string;
}

/** Rows that belong together. */
export interface Part {
  readonly title: string;
  readonly rows: readonly Row[];
}

/** Whether a figure is within its budget. One that is no number is not. */
export function isKept({ value, most }: Row): boolean {
  return most === undefined || value <= most;
}

export function partText({ title, rows }: Part): string {
  return [title, ...rows.map(rowText)].join('\n');
}

function rowText(row: Row): string {
  const { name, value, unit, most, note } = row;
  const promise = most === undefined ? '' : `${isKept(row) ? 'kept' : 'NOT KEPT'}: at most ${most} ${unit}`;
  const rest = [promise, note].filter(Boolean).join('; ');
  return `  ${name.padEnd(44)}${digits(value).padStart(10)} ${unit.padEnd(5)} ${rest}`.trimEnd();
}

/** The middle one of some values. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which this share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function digits(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(value < 100 ? 2 : 1);
}
