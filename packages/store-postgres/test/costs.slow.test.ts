import { wholeRun, write } from '@cobbler/agent/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { postgresStore } from '../src/index.ts';
import { announce, describeWith } from './missing.ts';
import type { PostgresServer } from './postgres-server.ts';
import { missingPostgres, startPostgres } from './postgres-server.ts';

const missing = missingPostgres();
announce('the costs in PostgreSQL', missing);

let server: PostgresServer;

beforeAll(async () => {
  if (missing === undefined) server = await startPostgres();
}, 60_000);

afterAll(() => server?.stop());

describeWith(missing, 'a schema of version 1', () => {
  it('gets the costs of its events once', async () => {
    const open = () => postgresStore({ url: server.url, schema: 'old' });
    const store = open();
    await write(store, 'one', wholeRun('Go.', 3));
    await write(store, 'many', wholeRun('Go.', 400));
    const costs = await store.costs?.({ by: 'session' });
    expect(costs?.map(({ key, requests }) => [key, requests])).toEqual([
      ['many', 401],
      ['one', 4],
    ]);
    await store.close();
    await server.sql(
      'DROP TABLE old.spending; ALTER TABLE old.sessions DROP COLUMN shares; UPDATE old.cobbler_sessions SET version = 1',
    );
    for (let times = 0; times < 2; times += 1) {
      const opened = open();
      expect(await opened.costs?.({ by: 'session' })).toEqual(costs);
      await opened.close();
    }
  });
});

describeWith(missing, 'a schema of version 2', () => {
  it('keeps its costs, whose user and tool are unknown', async () => {
    const open = () => postgresStore({ url: server.url, schema: 'unnamed' });
    const store = open();
    await write(store, 'one', wholeRun('Go.', 3));
    const costs = await store.costs?.({ by: 'session' });
    await store.close();
    await server.sql(`
      ALTER TABLE unnamed.spending DROP COLUMN "user", DROP COLUMN tool;
      ALTER TABLE unnamed.sessions DROP COLUMN shares;
      ALTER TABLE unnamed.spending ADD PRIMARY KEY (quarter, session, kind, model);
      UPDATE unnamed.cobbler_sessions SET version = 2`);
    const opened = open();
    expect(await opened.costs?.({ by: 'session' })).toEqual(costs);
    expect((await opened.costs?.({ by: 'user' }))?.map(({ key, requests }) => [key, requests])).toEqual([
      [null, 4],
    ]);
    await write(opened, 'two', wholeRun('More.', 1));
    expect((await opened.costs?.({ by: 'tool' }))?.map(({ requests }) => requests)).toEqual([6]);
    await opened.close();
  });
});
