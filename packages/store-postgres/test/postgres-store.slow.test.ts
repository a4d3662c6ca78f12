import { AgentError } from '@cobbler/agent';
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Database } from '../src/database.ts';
import type { PostgresStore, PostgresStoreOptions } from '../src/index.ts';
import { postgresStore } from '../src/index.ts';
import { runTables } from '../src/postgres-runner.ts';
import { migrate } from '../src/schema.ts';
import { eventsOf } from './events.ts';
import { announce, describeWith } from './missing.ts';
import type { PostgresServer } from './postgres-server.ts';
import { missingPooler, missingPostgres, startPooler, startPostgres } from './postgres-server.ts';
import { startProxy } from './proxy.ts';

const missing = missingPostgres();
announce('the PostgreSQL store', missing);

let server: PostgresServer;
let schemas = 0;
const opened: PostgresStore[] = [];

beforeAll(async () => {
  if (missing === undefined) server = await startPostgres();
}, 120_000);

afterAll(async () => {
  for (const store of opened) await store.close();
  await server?.stop();
});

function schema(): string {
  schemas += 1;
  return `own_${schemas}`;
}

function open(options: Partial<PostgresStoreOptions> = {}): PostgresStore {
  const store = postgresStore({ url: server.url, connections: 3, ...options });
  opened.push(store);
  return store;
}

async function codeOf(work: unknown): Promise<string | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return AgentError.is(error) ? error.code : String(error);
  }
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error('Timed out.');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const here = (name: string, define: () => void) => describeWith(missing, name, define);

here('session ownership', () => {
  it('a session that another process runs is in use until the run ends [P13]', async () => {
    const own = schema();
    const [one, other] = [open({ schema: own }), open({ schema: own })];
    const epoch = await one.claim('a');
    await one.append('a', eventsOf('a', ['x']), { epoch });
    expect(await codeOf(other.claim('a'))).toBe('in_use');
    expect(await codeOf(other.delete('a'))).toBe('in_use');
    expect((await other.info('a'))?.status).toBe('running');
    await one.append('a', [], { epoch, release: true });
    expect(await other.claim('a')).toBeGreaterThan(epoch);
    expect(await codeOf(one.append('a', eventsOf('a', ['y'], 1), { epoch }))).toBe('fenced');
  });

  it('a process whose lease has expired loses its sessions and cannot write to them [P13]', async () => {
    const own = schema();
    const [dead, other] = [open({ schema: own, leaseMs: 60_000 }), open({ schema: own, leaseMs: 60_000 })];
    const epoch = await dead.claim('a');
    await dead.append('a', eventsOf('a', ['x']), { epoch });
    expect(await codeOf(other.claim('a'))).toBe('in_use');
    await server.sql(`UPDATE ${own}.owners SET seen = seen - interval '61 seconds'`);
    expect((await other.info('a'))?.status).toBe('interrupted');
    await other.claim('a');
    expect(await codeOf(dead.append('a', eventsOf('a', ['y'], 1), { epoch }))).toBe('fenced');
    expect(await other.read('a')).toHaveLength(1);
  });

  it('a running process renews its lease', async () => {
    const own = schema();
    const [one, other] = [open({ schema: own, leaseMs: 6000 }), open({ schema: own, leaseMs: 6000 })];
    await one.append('a', eventsOf('a', ['x']), { epoch: await one.claim('a') });
    // Simulates an expired lease, which only the next renewal makes valid again.
    await server.sql(`UPDATE ${own}.owners SET seen = seen - interval '7 seconds'`);
    await until(async () => (await other.info('a'))?.status === 'running');
    expect(await codeOf(other.claim('a'))).toBe('in_use');
  });

  it('with exclusion by a runner, a claim always succeeds and fences the earlier writer', async () => {
    const own = schema();
    const options = { schema: own, exclusion: 'runner' } as const;
    const [one, other] = [open(options), open(options)];
    const first = await one.claim('a');
    await one.append('a', eventsOf('a', ['x']), { epoch: first });
    const second = await other.claim('a');
    expect(second).toBeGreaterThan(first);
    expect(await codeOf(one.append('a', eventsOf('a', ['y'], 1), { epoch: first }))).toBe('fenced');
    await other.append('a', eventsOf('a', ['y'], 1), { epoch: second });
    // The session counts as running even if its process has crashed, because the runner continues it.
    expect((await one.info('a'))?.status).toBe('running');
    expect(await one.prune({ keepLast: 0 })).toEqual([]);
  });

  it('concurrent claims and appends of several processes leave a log without gaps or lost events', async () => {
    const own = schema();
    const stores = Array.from({ length: 4 }, () => open({ schema: own, exclusion: 'runner' }));
    let written = 0;
    await Promise.all(
      stores.map(async (store) => {
        for (let round = 0; round < 25; round += 1) {
          const epoch = await store.claim('a');
          const { length } = await store.read('a');
          const code = await codeOf(store.append('a', eventsOf('a', [`${epoch}`], length), { epoch }));
          expect(['fenced', 'gap', undefined]).toContain(code);
          if (code === undefined) written += 1;
        }
      }),
    );
    const events = await stores[0]?.read('a');
    expect(written).toBeGreaterThan(0);
    expect(events).toHaveLength(written);
    expect(events?.map(({ seq }) => seq)).toEqual(events?.map((_, index) => index + 1));
  });
});

/** Returns the rows of every table of a schema, with their columns. */
async function contentOf(name: string): Promise<Record<string, unknown>> {
  const tables = await server.sql(
    `SELECT table_name AS t, string_agg(column_name || ' ' || data_type, ', ' ORDER BY column_name) AS c FROM information_schema.columns WHERE table_schema = '${name}' GROUP BY table_name ORDER BY table_name`,
  );
  const content: Record<string, unknown> = {};
  for (const { t, c } of tables) content[String(t)] = [c, await server.sql(`SELECT * FROM ${name}.${t}`)];
  return content;
}

here('the schema', () => {
  it('is created once if several processes open it at the same time', async () => {
    const own = schema();
    await Promise.all(Array.from({ length: 6 }, (_, at) => open({ schema: own }).claim(`s${at}`)));
    const [row] = await server.sql(`SELECT version FROM ${own}.cobbler_sessions`);
    expect(row).toEqual({ version: 4 });
  });

  it('is refused and not changed if it belongs to a newer version or another program', async () => {
    const [newer, foreign] = [schema(), schema()];
    const first = open({ schema: newer });
    await first.claim('a');
    // An open store renews its lease.
    await first.close();
    await server.sql(`UPDATE ${newer}.cobbler_sessions SET version = 9`);
    await server.sql(`CREATE SCHEMA ${foreign}; CREATE TABLE ${foreign}.sessions (other text)`);
    const before = await Promise.all([newer, foreign].map(contentOf));
    await expect(open({ schema: newer }).sessions()).rejects.toMatchObject({ code: 'store_newer' });
    await expect(open({ schema: newer }).claim('a')).rejects.toMatchObject({ code: 'store_newer' });
    await expect(open({ schema: foreign }).sessions()).rejects.toMatchObject({ code: 'store_foreign' });
    expect(await Promise.all([newer, foreign].map(contentOf))).toEqual(before);
    expect(before.map(Object.keys)).toEqual([
      expect.arrayContaining(['cobbler_sessions', 'owners']),
      ['sessions'],
    ]);
  });

  it('is migrated in one transaction, completely or not at all', async () => {
    const own = schema();
    await open({ schema: own }).claim('a');
    const migrations = ['', '', '', '', 'ALTER TABLE $s.owners ADD COLUMN more text', 'THIS IS NO SQL'];
    const db = new Database({
      url: server.url,
      connections: 1,
      busyMs: 100,
      statementMs: 20_000,
      prepare: async () => {},
    });
    await expect(
      db.transaction((connection) => migrate(connection, own, { mark: 'cobbler_sessions', migrations })),
    ).rejects.toThrow();
    expect((await server.sql(`SELECT version FROM ${own}.cobbler_sessions`))[0]).toEqual({ version: 4 });
    await db.transaction((connection) =>
      migrate(connection, own, { mark: 'cobbler_sessions', migrations: migrations.slice(0, 5) }),
    );
    expect((await server.sql(`SELECT version FROM ${own}.cobbler_sessions`))[0]).toEqual({ version: 5 });
    expect(await server.sql(`SELECT more FROM ${own}.owners`)).toHaveLength(1);
    await db.close();
  });

  it('gets the tables of the runner once, and the sessions keep their version', async () => {
    const own = schema();
    await open({ schema: own }).claim('a');
    const db = new Database({
      url: server.url,
      connections: 3,
      busyMs: 100,
      statementMs: 20_000,
      prepare: async () => {},
    });
    await Promise.all(
      [1, 2, 3].map(() => db.transaction((connection) => migrate(connection, own, runTables))),
    );
    expect(await server.sql(`SELECT version FROM ${own}.cobbler_runs`)).toEqual([{ version: 1 }]);
    expect(await server.sql(`SELECT version FROM ${own}.cobbler_sessions`)).toEqual([{ version: 4 }]);
    expect(await open({ schema: own }).claim('b')).toBeGreaterThan(0);
    await db.close();
  });

  it('is refused immediately if its name or the URL is invalid', () => {
    for (const name of ['', 'A', 'x; DROP', 'a"b', 'x'.repeat(41)])
      expect(() => open({ schema: name })).toThrow(AgentError);
    expect(() => open({ url: 'mysql://x' })).toThrow(/postgres:/);
  });
});

here('a broken connection', () => {
  it('after the commit of an append: the append succeeds and stores its events once [P9]', async () => {
    const proxy = await startProxy(server.port);
    const url = `postgres://cobbler@127.0.0.1:${proxy.port}/postgres`;
    const store = open({ url, schema: schema() });
    const epoch = await store.claim('a');
    await store.append('a', eventsOf('a', ['x']), { epoch });
    // Matches only the response to an append, which the server sends after the commit.
    proxy.cutAtAnswer('?column?');
    await store.append('a', eventsOf('a', ['y'], 1), { epoch });
    await store.append('a', eventsOf('a', ['z'], 2), { epoch });
    expect((await store.read('a')).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    await store.close();
    await proxy.close();
  });

  it('after the commit of an append: it succeeds even if another process then claims the session [P9]', async () => {
    const proxy = await startProxy(server.port);
    const own = schema();
    const url = `postgres://cobbler@127.0.0.1:${proxy.port}/postgres`;
    const store = open({ url, schema: own, exclusion: 'runner' });
    const other = open({ schema: own, exclusion: 'runner' });
    const epoch = await store.claim('a');
    proxy.cutAtAnswer('?column?');
    const appended = store.append('a', eventsOf('a', ['x']), { epoch });
    await until(async () => (await other.read('a')).length === 1);
    await other.claim('a');
    await appended;
    expect(await codeOf(store.append('a', eventsOf('a', ['y'], 1), { epoch }))).toBe('fenced');
    await store.close();
    await proxy.close();
  });

  it('is opened again, or reported as unreachable after the time limit', async () => {
    const proxy = await startProxy(server.port);
    const url = `postgres://cobbler@127.0.0.1:${proxy.port}/postgres`;
    // With exclusion by a runner, a store connects only for the calls of this test.
    const options = { url, schema: schema(), exclusion: 'runner' } as const;
    const patient = open({ ...options, busyMs: 60_000 });
    const epoch = await patient.claim('a');
    proxy.cut();
    const appended = patient.append('a', eventsOf('a', ['x']), { epoch });
    await until(() => proxy.refusals > 0);
    proxy.mend();
    await appended;
    await patient.close();
    const store = open({ ...options, busyMs: 1500 });
    const writer = { epoch: await store.claim('a') };
    proxy.cut();
    const before = proxy.refusals;
    const failing = (async () => await store.append('a', eventsOf('a', ['y'], 1), writer))();
    const error: unknown = await failing.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: 'agent', code: 'store_unreachable', retryable: true });
    // The store pauses between attempts for 25 ms, doubled up to 400 ms.
    expect(proxy.refusals - before).toBeLessThanOrEqual(8);
    expect(String(error)).not.toContain('cobbler@');
    proxy.mend();
    await store.append('a', eventsOf('a', ['y'], 1), writer);
    expect(await store.read('a')).toHaveLength(2);
    await store.close();
    await proxy.close();
  });

  it('in a crash of the server loses no appended events', async () => {
    const store = open({ schema: schema(), busyMs: 15_000 });
    const epoch = await store.claim('a');
    await store.append('a', eventsOf('a', ['x']), { epoch });
    const crashed = server.crash(200);
    await store.append('a', eventsOf('a', ['y'], 1), { epoch });
    await crashed;
    expect(await store.read('a')).toHaveLength(2);
  });
});

here('a probe', () => {
  it('fails if the database is readable but not writable [P13]', async () => {
    const own = schema();
    const store = open({ schema: own });
    await store.probe();
    const url = `${server.url}?options=-c%20default_transaction_read_only%3Don`;
    const reader = open({ url, schema: own });
    expect((await reader.list()).sessions).toEqual([]);
    expect(await codeOf(reader.probe())).toBe('store_readonly');
    await server.sql(`DROP SCHEMA ${own} CASCADE`);
    expect(await codeOf(store.probe())).toBe('store');
    await store.close();
    expect(await codeOf(store.probe())).toBe('store_closed');
  });
});

here('a watcher', () => {
  it('receives events immediately when another process appends them [S4.15]', async () => {
    const own = schema();
    const [one, other] = [open({ schema: own }), open({ schema: own, pollMs: 60_000, slowPollMs: 60_000 })];
    const heard: string[] = [];
    const stop = other.watch((sessionId, seq) => heard.push(`${sessionId} ${seq}`));
    const epoch = await one.claim('a');
    await until(() => other.isListening);
    await one.append('a', eventsOf('a', ['x', 'y']), { epoch });
    await until(() => heard.length > 0);
    expect(heard).toEqual(['a 2']);
    stop();
    await one.append('a', eventsOf('a', ['z'], 2), { epoch });
    expect(heard).toEqual(['a 2']);
  });

  it('misses no events while its connection is broken [S4.15]', async () => {
    const proxy = await startProxy(server.port);
    const own = schema();
    const url = `postgres://cobbler@127.0.0.1:${proxy.port}/postgres`;
    const [one, other] = [open({ schema: own }), open({ schema: own, url, pollMs: 50 })];
    const heard: string[] = [];
    other.watch((sessionId, seq) => heard.push(`${sessionId} ${seq}`));
    expect(await other.read('a')).toEqual([]);
    const epoch = await one.claim('a');
    await until(() => other.isListening);
    proxy.cut();
    await until(() => !other.isListening);
    await one.append('a', eventsOf('a', ['x']), { epoch });
    proxy.mend();
    await until(() => heard.includes('a 1'));
    await until(() => other.isListening);
    await one.append('a', eventsOf('a', ['y'], 1), { epoch });
    await until(() => heard.includes('a 2'));
    expect(heard).toEqual(['a 1', 'a 2']);
    await other.close();
    await proxy.close();
  });

  it('behind a transaction pooler, receives events by polling, or immediately by a direct URL [S4.15]', async ({
    skip,
  }) => {
    const missingToo = missingPooler();
    if (missingToo !== undefined) skip(missingToo);
    const pooler = await startPooler(server);
    const own = schema();
    const one = open({ schema: own, url: pooler.url });
    const looking = open({ schema: own, url: pooler.url, pollMs: 50 });
    const listening = open({ schema: own, url: pooler.url, listenUrl: server.url, pollMs: 60_000 });
    const [looked, heard]: [string[], string[]] = [[], []];
    looking.watch((sessionId, seq) => looked.push(`${sessionId} ${seq}`));
    listening.watch((sessionId, seq) => heard.push(`${sessionId} ${seq}`));
    // A store reports only events that are appended after its first read.
    for (const store of [looking, listening]) expect(await store.sessions()).toEqual([]);
    const epoch = await one.claim('a');
    await until(() => listening.isListening);
    await one.append('a', eventsOf('a', ['x']), { epoch });
    await until(() => looked.length > 0 && heard.length > 0);
    expect([looked, heard]).toEqual([['a 1'], ['a 1']]);
    expect(looking.isListening).toBe(false);
    for (const store of [one, looking, listening]) await store.close();
    await pooler.stop();
  });

  it('also receives events that commit late, in a transaction from before the last poll', async () => {
    const own = schema();
    const [one, other] = [open({ schema: own }), open({ schema: own, pollMs: 30, slowPollMs: 30 })];
    const epoch = await one.claim('a');
    await one.append('a', eventsOf('a', ['x']), { epoch });
    const heard: string[] = [];
    // This store receives no notification, because the INSERT below sends none: it only polls.
    await other.sessions();
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    await client.query('BEGIN');
    await client.query(
      `INSERT INTO ${own}.events (session, seq, epoch, json) SELECT key, 2, epoch, '{}' FROM ${own}.sessions`,
    );
    other.watch((sessionId, seq) => heard.push(`${sessionId} ${seq}`));
    const before = Date.now();
    await until(() => Date.now() - before > 150);
    expect(heard).toEqual([]);
    await client.query('COMMIT');
    await client.end();
    await until(() => heard.includes('a 2'));
  });
});
