import type { DatabaseSync } from 'node:sqlite';

type Sqlite = typeof import('node:sqlite');

let engine: Sqlite | undefined;

/**
 * Node's SQLite, loaded when the first store is opened. Older versions of Node warn that it is experimental: that
 * is meant for authors of programs, not for their users, so this one warning is not shown.
 */
export function sqlite(): Sqlite {
  engine ??= loaded();
  return engine;
}

function loaded(): Sqlite {
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

/** The one value of a query that gives one, such as a pragma. */
export function scalar(db: DatabaseSync, sql: string): string | number | undefined {
  const [value] = Object.values(db.prepare(sql).get() ?? {});
  return typeof value === 'string' || typeof value === 'number' ? value : undefined;
}
