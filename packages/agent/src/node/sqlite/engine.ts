import type { DatabaseSync } from 'node:sqlite';

type Sqlite = typeof import('node:sqlite');

let engine: Sqlite | undefined;

/** Returns Node's SQLite module, loaded on first use, without the warning of older versions, which is for developers. */
export function sqlite(): Sqlite {
  engine ??= loadSqlite();
  return engine;
}

function loadSqlite(): Sqlite {
  const { emitWarning } = process;
  process.emitWarning = ((warning: string | Error, ...rest: unknown[]) => {
    if (!(rest[0] === 'ExperimentalWarning' && String(warning).startsWith('SQLite')))
      Reflect.apply(emitWarning, process, [warning, ...rest]);
  }) as typeof process.emitWarning;
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** Returns the single value that a query returns, such as a pragma. */
export function scalar(db: DatabaseSync, sql: string): string | number | undefined {
  const [value] = Object.values(db.prepare(sql).get() ?? {});
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}
