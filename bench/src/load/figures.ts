import { quantile } from '../server/rows.ts';

/** The measurements: durations and failures. */
export class Figures {
  readonly #times = new Map<string, number[]>();
  readonly #errors = new Map<string, number>();

  /** Records a duration in milliseconds. */
  took(what: string, ms: number): void {
    const times = this.#times.get(what);
    if (times === undefined) this.#times.set(what, [ms]);
    else times.push(ms);
  }

  /** Counts a failure by its text, which must not contain numbers or ids. */
  failed(what: string): void {
    this.#errors.set(what, (this.#errors.get(what) ?? 0) + 1);
  }

  get errors(): number {
    return [...this.#errors.values()].reduce((sum, count) => sum + count, 0);
  }

  count(what: string): number {
    return this.#times.get(what)?.length ?? 0;
  }

  /** Returns a table of durations in milliseconds, and the failures with their counts. */
  lines(): string[] {
    const head = row('milliseconds', ['count', 'p50', 'p90', 'p99', 'longest']);
    const rows = [...this.#times].map(([what, times]) =>
      row(what, [
        String(times.length),
        ...[0.5, 0.9, 0.99, 1].map((share) => quantile(times, share).toFixed(1)),
      ]),
    );
    const errors = [...this.#errors].map(([what, count]) => `  ${count} x ${what}`);
    return [head, ...rows, `errors: ${this.errors}`, ...errors];
  }
}

function row(name: string, cells: readonly string[]): string {
  return name.padEnd(34) + cells.map((cell) => cell.padStart(10)).join('');
}
