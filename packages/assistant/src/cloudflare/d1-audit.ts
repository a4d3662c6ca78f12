import { count, listOf, read, text, withArguments } from '@cobbler/agent/input';
import type { AuditLines } from '@cobbler/agent/stored-audit';
import type { Sql } from '../storage/sql.ts';
import { readSql } from '../storage/sql.ts';
import { textIn } from '../storage/sql-row.ts';

/** The lines of an audit log in D1. */
export interface D1AuditLines extends AuditLines {
  /** Returns up to `limit` lines after the given number of lines, in order. */
  read(after: number, limit: number): Promise<readonly string[]>;
}

/** Inserts lines in one statement, unless another program has added some in the meantime. */
const insert = `
  INSERT INTO audit_lines (seq, line) SELECT ?1 + 1 + each.key, each.value FROM json_each(?2) AS each
  WHERE (SELECT coalesce(max(seq), 0) FROM audit_lines) = ?1`;

/**
 * Keeps the lines of an audit log in D1, with the assistant's migrations applied.
 * @throws AgentError `invalid`, code `bad_option`, for an invalid database. Methods reject with the codes of `d1Sql`.
 */
export function d1AuditLines(database: Sql): D1AuditLines {
  const sql = read(database, readSql, 'database');
  return withArguments<D1AuditLines>(
    {
      async last() {
        const { rows } = await sql.run('SELECT line FROM audit_lines ORDER BY seq DESC LIMIT 1');
        return rows[0] && textIn(rows[0], 'line');
      },
      async append(after, lines) {
        const { changes } = await sql.run(insert, [after, JSON.stringify(lines)]);
        return changes === lines.length;
      },
      async read(after, limit) {
        const { rows } = await sql.run('SELECT line FROM audit_lines WHERE seq > ?1 ORDER BY seq LIMIT ?2', [
          after,
          limit,
        ]);
        return rows.map((row) => textIn(row, 'line'));
      },
    },
    {
      append: { after: count, lines: listOf(text) },
      read: { after: count, limit: count },
    },
  );
}
