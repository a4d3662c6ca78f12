import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentError, memoryStore } from '@cobbler/agent';
import type { SqliteStoreOptions } from '@cobbler/agent/node';
import { sqliteStore } from '@cobbler/agent/node';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Readiness } from '../../src/routes/operation-routes.ts';
import type { Rig } from '../support/rig.ts';
import { rig } from '../support/rig.ts';

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'cobbler-ready-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

/** Starts a server on a file, with a session that has an ended run. Probe results are not reused. */
async function serving(file: string, options: SqliteStoreOptions = {}): Promise<Rig> {
  const store = sqliteStore(file, options);
  const served = await rig({ store, limits: { readyMs: 0 } });
  await served.ask('POST', '/v1/sessions', { id: 's' });
  await prompted(served);
  await served.idle('s');
  expect(await ready(served)).toBe('ready');
  return served;
}

async function prompted({ ask }: Rig): Promise<number> {
  return (await ask('POST', '/v1/sessions/s/prompt', { content: 'say Hi.' })).status;
}

/** Returns the response of /readyz: `ready`, or the code in its reason. */
async function ready({ ask }: Rig): Promise<unknown> {
  const { status, json } = await ask('GET', '/readyz');
  if (status === 200) return json['status'];
  expect([status, json['code']]).toEqual([503, 'not_ready']);
  return String(json['detail']).match(/store_\w+/)?.[0];
}

describe('/readyz fails when prompts would fail [P13]', () => {
  test('if the disk is full, until there is free space', async ({ skip }) => {
    const disk = join(folder(), 'disk');
    mkdirSync(disk);
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', disk], { stdio: 'ignore' });
    if (mounted.status !== 0) return skip('only root on Linux can mount a small disk');
    onTestFinished(() => void spawnSync('umount', ['-l', disk]));
    const served = await serving(join(disk, 'sessions.db'));
    const filler = join(disk, 'filler');
    expect(() => writeFileSync(filler, Buffer.alloc(4_000_000))).toThrow('ENOSPC');
    expect(await ready(served)).toMatch(/^store_(full|io)$/);
    expect(await prompted(served)).toBe(503);
    rmSync(filler);
    expect(await ready(served)).toBe('ready');
    expect(await prompted(served)).toBe(202);
    await served.idle('s');
  });

  test('if the store has reached its size limit', async () => {
    const file = join(folder(), 'sessions.db');
    const served = await serving(file, { maxBytes: 200_000 });
    const epoch = await served.store.claim('big');
    const content = [{ type: 'text' as const, text: 'x'.repeat(8_000) }];
    const head = {
      v: 1 as const,
      time: '2026-01-02T03:04:05.678Z',
      runId: 'r',
      type: 'user' as const,
      content,
    };
    const fill = async () => {
      for (let seq = 1; ; seq += 1)
        await served.store.append('big', [{ ...head, seq, id: `big-${seq}` }], { epoch });
    };
    await expect(fill()).rejects.toMatchObject({ code: 'store_full' });
    expect(await ready(served)).toBe('store_full');
  });

  test.each([
    ['removed', (file: string) => rmSync(file), 'store_missing'],
    ['overwritten', (file: string) => writeFileSync(file, 'dear diary '.repeat(1000)), 'store_damaged'],
    [
      'damaged in every page but the first',
      (file: string) => {
        const bytes = readFileSync(file);
        bytes.fill(0, 4096);
        writeFileSync(file, bytes);
      },
      'store_damaged',
    ],
  ])('if the store file is %s while the server runs', async (_how, harm, code) => {
    const file = join(folder(), 'sessions.db');
    const served = await serving(file);
    // Readers would still find the data in the WAL, so another process empties the WAL first.
    emptyLog(file);
    harm(file);
    expect(await ready(served)).toBe(code);
    if (code === 'store_missing') expect(await prompted(served)).toBe(503);
  });

  test('but its probes create no session', async () => {
    const served = await serving(join(folder(), 'sessions.db'));
    for (let times = 0; times < 5; times += 1) expect(await ready(served)).toBe('ready');
    const { json } = await served.ask('GET', '/v1/sessions');
    expect((json['items'] as { id: string }[]).map(({ id }) => id)).toEqual(['s']);
  });
});

describe('the store probe', () => {
  const refused = new AgentError({ kind: 'agent', code: 'store_full', message: '/srv/secret/path is full' });

  test('is shared by all requests within a short time', async () => {
    let [probes, time] = [0, 0];
    const changes: (string | undefined)[] = [];
    const readiness = new Readiness({
      probe: async () => {
        probes += 1;
        if (probes === 2) throw refused;
      },
      reuseMs: 100,
      timeoutMs: 60_000,
      onChange: (failure) => changes.push(failure?.code),
      now: () => time,
    });
    const ask = () => readiness.reason();
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([undefined, undefined, undefined]);
    time = 99;
    expect([await ask(), probes]).toEqual([undefined, 1]);
    time = 100;
    expect([await ask(), probes]).toEqual(['Cannot write to the store (store_full). See the server log.', 2]);
    time = 200;
    expect([await ask(), probes]).toEqual([undefined, 3]);
    expect(changes).toEqual(['store_full', undefined]);
  });

  test('fails if the store does not respond in time', async () => {
    const readiness = new Readiness({
      probe: () => new Promise(() => {}),
      reuseMs: 0,
      timeoutMs: 5,
      onChange: () => {},
    });
    expect(await readiness.reason()).toBe('Cannot write to the store (store_busy). See the server log.');
  });

  test('is performed by the configured store, and its failure is logged once', async () => {
    const store = { ...memoryStore(), probe: () => Promise.reject(refused) };
    const served = await rig({ store });
    expect(await served.ask('GET', '/readyz')).toMatchObject({ status: 503, json: { code: 'not_ready' } });
    expect(served.log.filter((line) => line.includes('"message":"the store is not writable"'))).toHaveLength(
      1,
    );
  });
});

/** Moves all data from the WAL of a database into the database. */
function emptyLog(file: string): void {
  const script = `const { DatabaseSync } = require('node:sqlite');
    new DatabaseSync(${JSON.stringify(file)}, { timeout: 5000 }).exec('PRAGMA wal_checkpoint(TRUNCATE)')`;
  const { status } = spawnSync(process.execPath, ['-e', script]);
  expect([status, statSync(`${file}-wal`).size]).toEqual([0, 0]);
}

test('a damaged session fails with its code and details, and others stay available [P13]', async () => {
  const file = join(folder(), 'sessions.db');
  const first = await serving(file);
  await first.ask('POST', '/v1/sessions', { id: 'other' });
  await first.ask('POST', '/v1/sessions/other/prompt', { content: 'say Hello.' });
  await first.idle('other');
  await first.server.close();
  await first.store.close();
  const bytes = readFileSync(file);
  const at = bytes.indexOf('"text":"say Hi.') + 9;
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
  const second = await rig({ store: sqliteStore(file) });
  expect(await second.ask('GET', '/v1/sessions/s/messages')).toMatchObject({
    status: 503,
    json: { code: 'store_damaged', detail: expect.stringContaining('Event 1 of session s is damaged') },
  });
  expect(await prompted(second)).toBe(503);
  expect((await second.ask('GET', '/v1/sessions/other/messages')).status).toBe(200);
  expect((await second.ask('GET', '/v1/sessions')).json['items']).toHaveLength(2);
});
