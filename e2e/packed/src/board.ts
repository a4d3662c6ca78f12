/** One line of a table: a claim, and the columns for which it is checked. */
export interface Row {
  readonly claim: string;
  /** Returns a note for the table. Throws if the claim is false. */
  readonly check: (column: string) => Promise<string | undefined> | string | undefined;
}

/** The result of one claim in one column. */
interface Cell {
  readonly claim: string;
  readonly column: string;
  readonly failure?: string;
  readonly note?: string | undefined;
}

/** Checks claims and collects the results. */
export class Board {
  readonly #tables: {
    readonly title: string;
    readonly columns: readonly string[];
    readonly cells: Cell[];
  }[] = [];

  /** Checks each row in each column, one after another because they share a machine. */
  async table(title: string, columns: readonly string[], rows: readonly Row[]): Promise<void> {
    const cells: Cell[] = [];
    this.#tables.push({ title, columns, cells });
    for (const { claim, check } of rows) {
      for (const column of columns) {
        const cell = await tried(claim, column, check);
        cells.push(cell);
        process.stderr.write(
          `packed: ${cell.failure === undefined ? 'ok    ' : 'FAILED'} ${claim} · ${column}\n`,
        );
      }
    }
  }

  get failures(): readonly string[] {
    return this.#cells()
      .filter(({ failure }) => failure !== undefined)
      .map(({ claim, column, failure }) => `${claim} · ${column}\n${indented(failure ?? '')}`);
  }

  get passed(): number {
    return this.#cells().filter(({ failure }) => failure === undefined).length;
  }

  /** Returns all tables, aligned. */
  toString(): string {
    return this.#tables.map(({ title, columns, cells }) => drawn(title, columns, cells)).join('\n\n');
  }

  #cells(): readonly Cell[] {
    return this.#tables.flatMap(({ cells }) => cells);
  }
}

async function tried(claim: string, column: string, check: Row['check']): Promise<Cell> {
  try {
    const note = await check(column);
    return { claim, column, note };
  } catch (error) {
    return { claim, column, failure: error instanceof Error ? error.message : String(error) };
  }
}

function drawn(title: string, columns: readonly string[], cells: readonly Cell[]): string {
  const claims = [...new Set(cells.map(({ claim }) => claim))];
  const lines = claims.map((claim) => [claim, ...columns.map((column) => word(cells, claim, column))]);
  const rows = [[title, ...columns], ...lines];
  const widths = [title, ...columns].map((_, index) =>
    Math.max(...rows.map((row) => row[index]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((text, index) => text.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function word(cells: readonly Cell[], claim: string, column: string): string {
  const cell = cells.find((one) => one.claim === claim && one.column === column);
  if (cell === undefined) return '';
  if (cell.failure !== undefined) return 'FAILED';
  return cell.note === undefined ? 'ok' : `ok (${cell.note})`;
}

function indented(text: string): string {
  return text.replaceAll(/^/gm, '    ');
}
