// `npm run bench -- costs`: the time that each store takes to answer for the costs of a million requests of a year. In
// the first table, five requests of a session share a quarter of an hour, in the second none do, which is the worst
// case. PostgreSQL is skipped, with a message, if it is not installed.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { SessionStore } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import type { CostQuery } from '@cobbler/agent/store';
import { postgresStore } from '../../../packages/store-postgres/src/index.ts';
import type { PostgresServer } from '../../../packages/store-postgres/test/postgres-server.ts';
import { missingPostgres, startPostgres } from '../../../packages/store-postgres/test/postgres-server.ts';

const requests = 1_000_000;
const quartersOfYear = 35_040;
const yearStart = Math.floor(Date.UTC(2026, 0, 1) / 900_000);
const rounds = 5;
const goalMs = 1000;

const month = { since: (yearStart + quartersOfYear - 30 * 96) * 900_000 };
const queries: readonly (CostQuery & { readonly name: string })[] = [
  { name: 'by day', by: 'day', timeZone: 'Europe/Berlin' },
  { name: 'by model', by: 'model' },
  { name: 'by session', by: 'session' },
  { name: 'by kind', by: 'kind' },
  { name: 'by user', by: 'user' },
  { name: 'by day, a month', by: 'day', ...month, timeZone: 'Europe/Berlin' },
];

/** The columns of row `i`: ten sessions are active at a time, and each has fifty rows. */
const quarter = (rows: number) => `${yearStart} + i * ${quartersOfYear} / ${rows}`;
const session = "'session-' || (i / 500 * 10 + i % 10)";
const kind = "CASE WHEN i % 20 = 0 THEN 'compaction' ELSE 'model' END";
const model = "'model-' || (i % 7)";
const user = "'user-' || (i % 10)";
const amounts = (each: number) =>
  `${each}, 0, ${each} * 0.01 * (1 + i % 9), ${each} * (1000 + i % 900), ${each} * 120, ${each} * 700, ${each} * 90, ${each} * 30, 0`;

function fillSqlite(file: string, rows: number): void {
  const db = new DatabaseSync(file);
  const source = `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${rows})`;
  db.exec(`
    BEGIN;
    INSERT OR IGNORE INTO payers (session, kind, model, user, tool)
      ${source} SELECT ${session}, ${kind}, ${model}, ${user}, '' FROM n;
    INSERT INTO spending ${source} SELECT ${quarter(rows)}, payer, ${amounts(requests / rows)}
      FROM n JOIN payers p ON p.session = ${session} AND p.kind = ${kind} AND p.model = ${model};
    COMMIT;`);
  db.close();
}

async function fillPostgres(server: PostgresServer, schema: string, rows: number): Promise<void> {
  const columns = `quarter, session, kind, model, "user", tool, requests, unpriced, usd, "inputTokens", "outputTokens",
    "cacheReadTokens", "cacheWriteTokens", "reasoningTokens", "wastedTokens"`;
  await server.sql(`
    INSERT INTO ${schema}.spending (${columns})
    SELECT ${quarter(rows)}, ${session}, ${kind}, ${model}, ${user}, '', ${amounts(requests / rows)}
    FROM generate_series(0::bigint, ${rows - 1}) i`);
  await server.sql(`VACUUM ANALYZE ${schema}.spending`);
}

async function measure(name: string, store: SessionStore): Promise<void> {
  const counted = (await store.costs?.({ by: 'kind' }))?.reduce((sum, row) => sum + row.requests, 0);
  if (counted !== requests)
    throw new Error(`${name} has the costs of ${counted} requests, not of ${requests}.`);
  for (const { name: what, ...query } of queries) {
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const start = performance.now();
      await store.costs?.(query);
      times.push(performance.now() - start);
    }
    const [best = 0, , median = 0] = times.sort((one, other) => one - other);
    const verdict = median <= goalMs ? '' : `  above ${goalMs} ms`;
    const text = `${Math.round(best)}`.padStart(6);
    console.log(
      `${name.padEnd(12)}${what.padEnd(18)}${text} ms best  ${Math.round(median)} ms median${verdict}`,
    );
  }
}

const home = mkdtempSync(join(tmpdir(), 'cobbler-bench-costs-'));
const missing = missingPostgres();
if (missing !== undefined) console.error(`bench: PostgreSQL is skipped: ${missing}`);
const server = missing === undefined ? await startPostgres() : undefined;
try {
  for (const rows of [requests / 5, requests]) {
    console.log(`\n${requests} requests in ${rows} rows`);
    const file = join(home, `${rows}.db`);
    await sqliteStore(file).close();
    fillSqlite(file, rows);
    const sqlite = sqliteStore(file);
    await measure('SQLite', sqlite);
    await sqlite.close();
    if (server === undefined) continue;
    const schema = `rows_${rows}`;
    const postgres = postgresStore({ url: server.url, schema, statementMs: 60_000 });
    await postgres.sessions();
    await fillPostgres(server, schema, rows);
    await measure('PostgreSQL', postgres);
    await postgres.close();
  }
} finally {
  await server?.stop();
  rmSync(home, { recursive: true, force: true });
}
