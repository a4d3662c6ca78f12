import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sqliteStore } from '@cobbler/agent/node';
import { harnessFixture } from '@cobbler/conformance';
import { startServer, TokenStore, tokenFile } from '@cobbler/server';
import { describe, expect, test } from 'vitest';
import { readManifest } from '../../src/commands/backup.ts';
import { cobbler } from '../support/in-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Creates a home with sessions and other files, and a path for backups. */
async function place() {
  const home = join(temporaryFolder(), 'home');
  const into = join(temporaryFolder(), 'backup');
  mkdirSync(join(home, 'compiled'), { recursive: true });
  writeFileSync(join(home, 'config.yaml'), 'model: fast\n');
  writeFileSync(join(home, 'compiled', 'code'), 'x');
  writeFileSync(join(home, 'server.json'), '{}');
  const store = sqliteStore(join(home, 'server.db'));
  const at = (args: readonly string[], to = home) => cobbler(args, { env: { COBBLER_HOME: to } });
  return { home, into, store, at };
}

/** Expects the events of every session to have no gaps, and returns their number. */
async function counted(file: string) {
  const store = sqliteStore(file);
  try {
    let events = 0;
    for (const { id } of (await store.list({ limit: 200 })).sessions) {
      const seqs = (await store.read(id)).map(({ seq }) => seq);
      expect(seqs).toEqual(seqs.map((_, index) => index + 1));
      events += seqs.length;
    }
    return events;
  } finally {
    await store.close();
  }
}

describe('cobbler backup', { timeout: 120_000 }, () => {
  test('copies a server during writes as a crash-consistent state, which restore recovers', async () => {
    const { home, into, store, at } = await place();
    const tokens = new TokenStore(tokenFile(join(home, 'server-tokens.json')));
    const token = tokens.own();
    const server = await startServer({
      store,
      tokens,
      settings: () => harnessFixture(),
      log: () => undefined,
    });
    const ask = async (method: string, path: string, body?: unknown) =>
      await fetch(server.url + path, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    let isOver = false;
    let written = 0;
    const writing = Array.from({ length: 4 }, async (_, index) => {
      await ask('POST', '/v1/sessions', { id: `s${index}` });
      while (!isOver) {
        const { status } = await ask('POST', `/v1/sessions/s${index}/prompt`, { content: 'use look' });
        if (status === 202) written += 1;
      }
    });
    await expect.poll(() => written).toBeGreaterThan(8);
    const before = written;
    const made = await at(['backup', into]);
    isOver = true;
    await Promise.all(writing);
    await server.close();
    await store.close();
    expect(made).toMatchObject({ code: 0, stdout: `${into}\n` });
    expect(readManifest(into).files.map(({ name, format }) => [name, format])).toEqual([
      ['server.db', 6],
      ['config.yaml', undefined],
      ['server-tokens.json', undefined],
    ]);
    for (const name of ['server.db', 'server-tokens.json', 'manifest.json'])
      expect([name, statSync(join(into, name)).mode & 0o777]).toEqual([name, 0o600]);
    const other = join(temporaryFolder(), 'other');
    expect((await at(['restore', into], other)).code).toBe(0);
    expect(await counted(join(other, 'server.db'))).toBeGreaterThan(before);
    expect(new TokenStore(tokenFile(join(other, 'server-tokens.json'))).own()).toBe(token);
    expect(statSync(join(other, 'server-tokens.json')).mode & 0o777).toBe(0o600);
  });

  test('does not overwrite a directory and leaves no incomplete backup', async () => {
    const { home, into, store, at } = await place();
    mkdirSync(into);
    expect((await at(['backup', into])).stderr).toContain('already exists');
    expect((await at(['backup', join(home, 'inside')])).stderr).toContain('inside the directory');
    await store.close();
    writeFileSync(join(home, 'runs.db'), `SQLite format 3\0${'damaged '.repeat(100)}`);
    const failed = await at(['backup', `${into}-2`]);
    expect([failed.code, failed.stdout, existsSync(`${into}-2`)]).toEqual([2, '', false]);
    expect(failed.stderr).toContain('runs.db');
  });

  test('copies the assistant journal before the data that its steps wrote', async () => {
    const { home, into, store, at } = await place();
    await store.close();
    mkdirSync(join(home, 'assistant'));
    for (const name of ['chats.db', 'runs.db', 'lock.db']) {
      const db = new DatabaseSync(join(home, 'assistant', name));
      db.exec('CREATE TABLE kept (value TEXT)');
      db.close();
    }
    expect((await at(['backup', into])).code).toBe(0);
    expect(readManifest(into).files.map(({ name }) => name)).toEqual([
      'assistant/runs.db',
      'assistant/chats.db',
      'server.db',
      'config.yaml',
    ]);
  });
});

describe('cobbler restore', { timeout: 120_000 }, () => {
  test('rejects a home that is not empty and a backup that was changed', async () => {
    const { home, into, store, at } = await place();
    await store.close();
    await at(['backup', into]);
    const refused = await at(['restore', into]);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain('is not empty');
    expect(readFileSync(join(home, 'config.yaml'), 'utf8')).toBe('model: fast\n');
    const other = join(temporaryFolder(), 'other');
    writeFileSync(join(into, 'config.yaml'), 'model: best\n');
    const changed = await at(['restore', into], other);
    expect([changed.code, existsSync(other)]).toEqual([2, false]);
    expect(changed.stderr).toContain('config.yaml has changed');
  });

  test('rejects a file name that leads out of the home', async () => {
    const { into, at } = await place();
    mkdirSync(into);
    const file = { name: '../out', bytes: 0, sha256: '' };
    writeFileSync(join(into, 'manifest.json'), JSON.stringify({ v: 1, files: [file] }));
    const ended = await at(['restore', into], join(temporaryFolder(), 'other'));
    expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining('is not a backup')]);
    expect((await at(['restore', temporaryFolder()])).stderr).toContain('is not a backup');
  });
});
