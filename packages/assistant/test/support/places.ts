import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SqliteSql } from '../../src/sqlite/sqlite-sql.ts';
import { sqliteSql } from '../../src/sqlite/sqlite-sql.ts';
import type { Sql } from '../../src/storage/sql.ts';
import type { ContractContext, PlaceSubject } from '../../src/testing/place.ts';

/** Creates the implementation under test on a database. */
export type Over<Thing> = (sql: Sql, means: ContractContext) => Thing;

/** Stores each case in its own file, opened again for each simulated restart. */
export function inFile<Thing>(over: Over<Thing>): PlaceSubject<Thing> {
  return {
    name: 'sqlite',
    async begin() {
      const folder = mkdtempSync(join(tmpdir(), 'cobbler-assistant-'));
      const open: SqliteSql[] = [];
      return {
        open(means) {
          const sql = sqliteSql({ file: join(folder, 'assistant.db') });
          open.push(sql);
          return over(sql, means);
        },
        async close() {
          for (const sql of open) sql.close();
          rmSync(folder, { recursive: true, force: true });
        },
      };
    },
  };
}
