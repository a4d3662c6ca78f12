/** A measured value and its budget. */
export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The maximum. If absent, the value has no budget. */
  readonly most?: number;
  readonly note?: string;
}

/** Related rows. */
export interface Part {
  readonly title: string;
  readonly rows: readonly Row[];
}

/** True if a value is within its budget. NaN is not. */
export function isKept({ value, most }: Row): boolean {
  return most === undefined || value <= most;
}

export function partText({ title, rows }: Part): string {
  return [title, ...rows.map(rowText)].join('\n');
}

function rowText(row: Row): string {
  const { name, value, unit, most, note } = row;
  const promise = most === undefined ? '' : `${isKept(row) ? 'met' : 'NOT MET'}: at most ${most} ${unit}`;
  const rest = [promise, note].filter(Boolean).join('; ');
  return `  ${name.padEnd(44)}${digits(value).padStart(10)} ${unit.padEnd(5)} ${rest}`.trimEnd();
}

/** Returns the median. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** Returns the value below which this share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

function digits(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(value < 100 ? 2 : 1);
}
