import type { Sample } from './round.ts';
import type { Reached, Size } from './size.ts';

/** All measurements and the machine on which they were taken. */
export interface Report {
  readonly node: string;
  readonly cores: number;
  /** The date in ISO form. */
  readonly day: string;
  readonly rounds: number;
  readonly samples: readonly Sample[];
  readonly sizes: readonly Size[];
  /** Packages that the main entry of `@cobbler/agent` loads. */
  readonly reached: readonly Reached[];
}

/** Returns the report as JSON with one measurement per line, times to the microsecond. */
export function reportText({ samples, sizes, reached, ...about }: Report): string {
  const head = Object.entries(about).map(([name, value]) => `"${name}":${JSON.stringify(value)}`);
  const lists = Object.entries({ reached, sizes, samples }).map(
    ([name, items]) => `"${name}":[${items.map((item) => `\n${JSON.stringify(item, rounded)}`).join(',')}]`,
  );
  return `{${[...head, ...lists].join(',\n')}}\n`;
}

function rounded(_name: string, value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value * 1000) / 1000 : value;
}

/**
 * Parses a report.
 * @throws Error if the text is not a report.
 */
export function readReport(text: string): Report {
  const report: Report = JSON.parse(text);
  if (!Array.isArray(report.samples) || !Array.isArray(report.sizes) || !Array.isArray(report.reached)) {
    throw new Error('This file was not written by --json.');
  }
  return report;
}
