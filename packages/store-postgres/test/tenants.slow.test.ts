import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentError } from '@cobbler/agent';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { postgresBudgets } from '../src/budgets.ts';
import type { PostgresStore } from '../src/index.ts';
import { postgresStore } from '../src/index.ts';
import { postgresRunner } from '../src/runner.ts';
import { eventsOf } from './events.ts';
import { announce, describeWith } from './missing.ts';
import type { PostgresServer } from './postgres-server.ts';
import { missingPostgres, startPostgres } from './postgres-server.ts';

const missing = missingPostgres();
announce('tenants on PostgreSQL', missing);

/** The statements that docs/scale-out.md tells administrators to run. */
function statementsFor(tenant: string): string {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/scale-out.md'), 'utf8');
  const [, sql = ''] = /## Separate tenants.*?```sql\n(.*?)```/s.exec(page) ?? [];
  return sql.replaceAll('acme', tenant);
}

let server: PostgresServer;
let acme: PostgresStore;
const opened: { close(): Promise<void> }[] = [];

function urlOf(role: string, database: string, port = server.port): string {
  return `postgres://${role}@127.0.0.1:${port}/${database}`;
}

function open(role: string, database: string, port?: number): PostgresStore {
  const store = postgresStore({ url: urlOf(role, database, port), connections: 2, busyMs: 100 });
  opened.push(store);
  return store;
}

beforeAll(async () => {
  if (missing !== undefined) return;
  server = await startPostgres();
  await server.sql('REVOKE ALL ON DATABASE postgres FROM PUBLIC');
  for (const tenant of ['acme', 'globex'])
    for (const statement of statementsFor(tenant).split(';\n').filter(Boolean)) await server.sql(statement);
  acme = open('acme', 'acme');
  const epoch = await acme.claim('secret-session');
  await acme.append('secret-session', eventsOf('secret-session', ['a secret']), { epoch, release: true });
}, 120_000);

afterAll(async () => {
  // A store that could not connect cannot say goodbye either.
  for (const one of opened) await one.close().catch(() => {});
  await server?.stop();
});

async function codeOf(work: unknown): Promise<string | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return AgentError.is(error) ? error.code : String(error);
  }
}

async function connected<Value>(role: string, database: string, work: (client: pg.Client) => Promise<Value>) {
  const client = new pg.Client({ connectionString: urlOf(role, database) });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

const writer = { epoch: 1 };

describeWith(missing, 'a role of one tenant', () => {
  it.each<[string, (store: PostgresStore) => unknown]>([
    ['claim', (store) => store.claim('secret-session')],
    ['append', (store) => store.append('secret-session', eventsOf('secret-session', ['x'], 1), writer)],
    ['read', (store) => store.read('secret-session')],
    ['sessions', (store) => store.sessions()],
    ['list', (store) => store.list()],
    ['info', (store) => store.info('secret-session')],
    ['rename', (store) => store.rename('secret-session', 'mine')],
    ['delete', (store) => store.delete('secret-session')],
    ['prune', (store) => store.prune({ keepLast: 0 })],
    ['costs', (store) => store.costs?.({ by: 'day' })],
    ['deleteCosts', (store) => store.deleteCosts?.(Date.now())],
    ['probe', (store) => store.probe()],
  ])('cannot %s in the database of another', async (_, call) => {
    expect(await codeOf(call(open('globex', 'acme')))).toBe('store_readonly');
    expect((await acme.read('secret-session')).length).toBe(1);
  });

  it('cannot use the budgets or the runs of another', async () => {
    const url = urlOf('globex', 'acme');
    const budgets = postgresBudgets({ url, busyMs: 100 });
    const runner = postgresRunner({ url, busyMs: 100, workflow: async () => null });
    opened.push(budgets, runner);
    expect(await codeOf(budgets.balances())).toBe('store_readonly');
    expect(await codeOf(budgets.define({ name: 'mine', limits: { usd: 1 } }))).toBe('store_readonly');
    expect(await codeOf(runner.status('run-1'))).toBe('store_readonly');
  });

  it('cannot connect to the database of another or to that of the administrator', async () => {
    for (const database of ['acme', 'postgres'])
      await expect(connected('globex', database, async () => {})).rejects.toThrow(
        /permission denied for database/,
      );
  });

  it.each([
    ['another database by name', 'SELECT * FROM acme.cobbler.events'],
    ['a connection to another database', "SELECT * FROM dblink('dbname=acme', 'SELECT 1') AS t(a int)"],
    ['an extension for it', 'CREATE EXTENSION postgres_fdw'],
    ['a file of the server', "SELECT pg_read_file('postgresql.conf')"],
    ['a program of the server', "COPY (SELECT 1) TO PROGRAM 'cat'"],
    ['another role', 'SET ROLE acme'],
    ['the role of the administrator', 'SET SESSION AUTHORIZATION cobbler'],
    ['a right that it lacks', 'ALTER ROLE globex SUPERUSER'],
    ['the right to connect', 'GRANT CONNECT ON DATABASE acme TO globex'],
    ['a new role', 'CREATE ROLE other'],
    ['a new database', 'CREATE DATABASE other'],
    ['the end of another database', 'DROP DATABASE acme'],
  ])('cannot use %s', async (_, sql) => {
    await expect(connected('globex', 'globex', (client) => client.query(sql))).rejects.toThrow();
  });
});

describeWith(missing, 'the store of one tenant', () => {
  it('finds nothing of another, whatever ids it guesses', async () => {
    const globex = open('globex', 'globex');
    expect((await globex.list()).sessions).toEqual([]);
    expect(await globex.sessions()).toEqual([]);
    for (const id of ['secret-session', 'acme', '%', 'cobbler.events']) {
      expect(await globex.info(id)).toBeUndefined();
      expect(await globex.read(id)).toEqual([]);
      expect(await globex.delete(id)).toBe(false);
    }
    const epoch = await globex.claim('secret-session');
    await globex.append('secret-session', eventsOf('secret-session', ['mine']), { epoch, release: true });
    expect(await globex.delete('secret-session')).toBe(true);
    expect(JSON.stringify(await acme.read('secret-session'))).toContain('a secret');
  });

  it('receives no notification of another, and cannot send it one', async () => {
    const seen: string[] = [];
    await connected('globex', 'globex', async (client) => {
      client.on('notification', ({ payload }) => seen.push(String(payload)));
      await client.query('LISTEN cobbler_sessions_cobbler');
      const told: [string, number][] = [];
      const stop = acme.watch((id, seq) => told.push([id, seq]));
      await expect.poll(() => acme.isListening).toBe(true);
      await client.query("NOTIFY cobbler_sessions_cobbler, 'secret-session 999'");
      const epoch = await acme.claim('secret-session');
      await acme.append('secret-session', eventsOf('secret-session', ['b'], 1), { epoch, release: true });
      await expect.poll(() => told.at(-1)).toEqual(['secret-session', 2]);
      stop();
      expect(told).not.toContainEqual(['secret-session', 999]);
    });
    expect(seen).toEqual(['secret-session 999']);
  });

  it('does not wait for the locks of another', async () => {
    await connected('globex', 'globex', async (client) => {
      await client.query("BEGIN; SELECT pg_advisory_xact_lock(hashtextextended('budgets.cobbler', 0))");
      const budgets = postgresBudgets({ url: urlOf('acme', 'acme'), statementMs: 2000 });
      opened.push(budgets);
      await budgets.define({ name: 'team', limits: { usd: 1 } });
      expect((await budgets.balances()).map(({ definition }) => definition.name)).toEqual(['team']);
    });
  });
});
