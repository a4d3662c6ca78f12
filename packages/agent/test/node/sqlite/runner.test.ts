import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { SqliteRunnerOptions } from '../../../src/node/sqlite-runner/sqlite-runner.ts';
import { sqliteRunner } from '../../../src/node/sqlite-runner/sqlite-runner.ts';
import type { Routine, Runner } from '../../../src/runner/runner.ts';
import type { Json } from '../../../src/values/json.ts';
import { stillRuntime } from '../../support/still-runtime.ts';
import { refusal } from './rig.ts';

function newFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-sqlite-runner-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'runs.db');
}

const runtime = stillRuntime();

type Options = Partial<SqliteRunnerOptions<Json, Json>>;

function open(file: string, routine: Routine, more: Options = {}): Runner {
  const runner = sqliteRunner({ file, routine, runtime, ...more });
  onTestFinished(() => runner.close());
  return runner;
}

function edit(file: string, sql: string): Record<string, unknown>[] {
  const db = new DatabaseSync(file, { timeout: 5000 });
  try {
    return db.prepare(sql).all();
  } finally {
    db.close();
  }
}

/** Lets time pass until something holds. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let look = 0; look < 300; look += 1) {
    if (await holds()) return;
    await runtime.advance(20);
  }
  throw new Error('Waited in vain.');
}

function locks(file: string): string[] {
  return readdirSync(dirname(file)).filter((name) => name.includes('-owner-'));
}

const waits: Routine = async (_input, steps) => (await steps.waitFor('go')) ?? null;

/** Counts its steps; waits between them. */
function counting(into: string[], name: string): Routine {
  return async (_input, steps) => {
    await steps.run('first', () => into.push(`${name} first`));
    const came = await steps.waitFor('go');
    await steps.run('second', () => into.push(`${name} second`));
    return came ?? null;
  };
}

test('only the owner may read what runs are made of', async () => {
  const file = newFile();
  const runner = open(file, waits);
  await runner.start(null, { runId: 'one' });
  for (const name of readdirSync(dirname(file)))
    expect([name, statSync(join(dirname(file), name)).mode & 0o777]).toEqual([name, 0o600]);
});

test('two processes on one file: one works on a run, the other can signal it and hears of its end [P13]', async () => {
  const file = newFile();
  const ran: string[] = [];
  const one = open(file, counting(ran, 'one'));
  const two = open(file, counting(ran, 'two'));
  await one.start(null, { runId: 'a' });
  await until(() => ran.length === 1);
  const result = two.result('a');
  expect(await two.start(null, { runId: 'a' })).toBe(false);
  expect(await two.signal('a', 'go', 'from two')).toBe(true);
  await until(() => ran.length === 2);
  await until(async () => (await two.status('a')).state === 'done');
  await runtime.advance(400);
  expect(await result).toBe('from two');
  expect(ran).toEqual(['one first', 'one second']);
});

test('a run is stopped when another process cancels it', async () => {
  const file = newFile();
  let reason: unknown;
  const one = open(file, async (_input, steps) => {
    await steps.run('hangs', ({ signal }) => {
      return new Promise<null>(() => signal.addEventListener('abort', () => (reason = signal.reason)));
    });
    return null;
  });
  const two = open(file, waits);
  await one.start(null, { runId: 'a' });
  await runtime.advance(20);
  const failed = refusal(() => one.result('a'));
  expect(await two.cancel('a')).toBe(true);
  await until(() => reason !== undefined);
  expect((await failed).code).toBe('cancelled');
  expect(reason).toMatchObject({ kind: 'aborted', code: 'cancelled' });
});

test('runs of one key take turns though different processes started them', async () => {
  const file = newFile();
  const ran: string[] = [];
  const one = open(file, counting(ran, 'one'));
  const two = open(file, counting(ran, 'two'));
  await one.start(null, { runId: 'a', key: 'k' });
  await two.start(null, { runId: 'b', key: 'k' });
  expect((await refusal(() => two.start(null, { runId: 'c', key: 'k', whenBusy: 'reject' }))).code).toBe(
    'busy',
  );
  await two.signal('b', 'go', 2);
  await runtime.advance(400);
  expect(ran).toEqual(['one first']);
  await one.signal('a', 'go', 1);
  await until(async () => (await two.status('b')).state === 'done');
  expect(ran).toHaveLength(4);
});

test('who was believed dead can write nothing once another has taken its run over [P13]', async () => {
  const file = newFile();
  const ran: string[] = [];
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const one = open(file, async (_input, steps) => {
    await steps.run('first', () => ran.push('one first'));
    await steps
      .run('second', async () => {
        ran.push('one second');
        await held;
        return 'from one';
      })
      .catch((error) => ran.push(`one heard ${error.code}`));
    return null;
  });
  await one.start(null, { runId: 'a' });
  await until(() => ran.length === 2);
  // As if the lock had been given up by the system.
  for (const lock of locks(file)) rmSync(join(dirname(file), lock));
  const two = open(file, async (_input, steps) => {
    await steps.run('first', () => ran.push('two first'));
    await steps.waitFor('go');
    return (await steps.run('second', () => 'from two')).value;
  });
  await until(() => edit(file, "SELECT epoch FROM runs WHERE id = 'a'")[0]?.['epoch'] === 2);
  release();
  await until(() => ran.length === 3);
  expect(ran).toEqual(['one first', 'one second', 'one heard fenced']);
  expect(edit(file, 'SELECT name FROM steps')).toEqual([{ name: 'first' }]);
  await two.signal('a', 'go', null);
  await until(async () => (await two.status('a')).state === 'done');
  expect(await two.result('a')).toBe('from two');
});

test('the epoch is looked at in the transaction of the record itself [P13]', async () => {
  const file = newFile();
  const heard: string[] = [];
  const one = open(file, async (_input, steps) => {
    await steps
      .run('first', () => {
        edit(file, 'UPDATE runs SET epoch = epoch + 1');
        return null;
      })
      .catch((error) => heard.push(error.code));
    return null;
  });
  await one.start(null, { runId: 'a' });
  await until(() => heard.length === 1);
  expect(heard).toEqual(['fenced']);
  expect(edit(file, 'SELECT * FROM steps')).toEqual([]);
});

test('a run of a version that is not known fails and says so, without a step being run [P13]', async () => {
  const file = newFile();
  const ran: string[] = [];
  const old = open(file, counting(ran, 'old'), { version: '1' });
  for (const runId of ['a', 'b']) await old.start(null, { runId, key: 'k' });
  await until(() => ran.length === 1);
  await old.close();
  const newer = open(file, counting(ran, 'new'), { version: '2' });
  await until(async () => (await newer.status('b')).state === 'failed');
  const { code, message } = await refusal(() => newer.result('a'));
  expect(code).toBe('routine_version');
  expect(message).toContain('started by version "1"');
  expect(ran).toEqual(['old first']);
});

test('a version that is said to be taken up is taken up', async () => {
  const file = newFile();
  const ran: string[] = [];
  const old = open(file, counting(ran, 'old'));
  await old.start(null, { runId: 'a' });
  await until(() => edit(file, 'SELECT name FROM steps').length === 1);
  await old.close();
  const newer = open(file, counting(ran, 'new'), { version: '2', replays: ['1'] });
  await newer.signal('a', 'go', 1);
  await until(async () => (await newer.status('a')).state === 'done');
  expect(ran).toEqual(['old first', 'new second']);
});

test('a step that was another kind of step before ends in an error that says so', async () => {
  const file = newFile();
  const sleeps = open(file, async (_input, steps) => {
    await steps.sleep('x', 60_000);
    return null;
  });
  await sleeps.start(null, { runId: 'a' });
  await until(() => edit(file, 'SELECT name FROM steps').length === 1);
  await sleeps.close();
  const runs = open(file, async (_input, steps) => (await steps.run('x', () => 1)).value);
  await until(async () => (await runs.status('a')).state === 'failed');
  expect((await refusal(() => runs.result('a'))).code).toBe('replay');
});

test('ended runs are kept for a while and then removed, with all that they held', async () => {
  const file = newFile();
  const done: Routine = async (_input, steps) => (await steps.run('one', () => 1)).value;
  const runner = open(file, done, { retention: { maxRuns: 3 } });
  for (let at = 0; at < 6; at += 1) {
    await runner.start(null, { runId: `r${at}` });
    await until(async () => (await runner.status(`r${at}`)).state === 'done');
  }
  await runner.close();
  const again = open(file, done, { retention: { maxRuns: 3, maxAgeMs: 10_000 } });
  await until(async () => (await again.status('r2')).state === 'unknown');
  expect((await refusal(() => again.result('r2'))).code).toBe('no_run');
  expect(await again.status('r3')).toEqual({ state: 'done', output: 1 });
  await again.close();
  await runtime.advance(20_000);
  const later = open(file, done, { retention: { maxAgeMs: 10_000 } });
  await until(async () => (await later.status('r5')).state === 'unknown');
  for (const table of ['runs', 'steps', 'signals'])
    expect([table, edit(file, `SELECT count(*) AS n FROM ${table}`)]).toEqual([table, [{ n: 0 }]]);
});

test('a start, a step and a signal are told of when a power cut cannot undo them [P13]', async () => {
  const modes: string[] = [];
  const real = DatabaseSync.prototype.exec;
  const exec = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (
    this: DatabaseSync,
    sql,
  ) {
    const [, mode] = /^PRAGMA synchronous = (\w+)$/.exec(sql) ?? [];
    if (mode !== undefined) modes.push(mode);
    return Reflect.apply(real, this, [sql]);
  });
  onTestFinished(() => exec.mockRestore());
  const seen: Record<string, string | undefined> = {};
  const runner = open(newFile(), async (_input, steps) => {
    await steps.run('one', () => 1);
    seen['step'] = modes.at(-1);
    return (await steps.waitFor('go')) ?? null;
  });
  await runtime.advance(20);
  await runner.start(null, { runId: 'a' });
  seen['start'] = modes.at(-1);
  await until(() => 'step' in seen);
  await runner.signal('a', 'go', 1);
  seen['signal'] = modes.at(-1);
  expect(seen).toEqual({ start: 'FULL', step: 'FULL', signal: 'FULL' });
});

test('what was written by a newer version, by another program or is no database is refused and left alone', async () => {
  const spoiled: Record<string, (file: string) => void> = {
    store_newer: (file) => edit(file, 'PRAGMA user_version = 99'),
    store_foreign: (file) => edit(file, 'PRAGMA application_id = 1'),
    store_damaged: (file) => writeFileSync(file, 'no database, but long enough to be looked at '.repeat(100)),
    store_missing: (file) => rmSync(file),
  };
  for (const [expected, spoil] of Object.entries(spoiled)) {
    const file = newFile();
    await open(file, waits).close();
    spoil(file);
    const { code, message } = await refusal(() => sqliteRunner({ file, routine: waits, runtime }));
    expect(code).toBe(expected);
    expect(message).toContain(file);
    expect(message).not.toContain('session');
  }
});

test('a journal that cannot be written for a moment costs a run nothing but time [P13]', async () => {
  const file = newFile();
  const ran: string[] = [];
  let isBroken = false;
  const onWrite = () => {
    if (isBroken) throw new Error('the disk is gone');
  };
  const routine: Routine = async (_input, steps) => {
    await steps.run('first', () => ran.push('first'));
    await steps.waitFor('go');
    await steps.run('second', () => ran.push('second'));
    return 'through';
  };
  const runner = open(file, routine, { onWrite });
  await runner.start(null, { runId: 'a' });
  await until(() => edit(file, 'SELECT name FROM steps').length === 1);
  await runner.signal('a', 'go', null);
  isBroken = true;
  await runtime.advance(400);
  isBroken = false;
  await until(async () => (await runner.status('a')).state === 'done');
  expect(ran.filter((line) => line === 'first')).toHaveLength(1);
});

test('a process that closes its runner ends by itself, and leaves no file but the journal', async () => {
  const file = newFile();
  const source = new URL('../../../src/node/sqlite-runner/sqlite-runner.ts', import.meta.url).href;
  const text = `
    import { sqliteRunner } from ${JSON.stringify(source)};
    const runner = sqliteRunner({ file: ${JSON.stringify(file)}, routine: (input, steps) => steps.sleep('long', 1e9) });
    await runner.start(null, { runId: 'a' });
    await runner.close();
  `;
  const flags = [
    '--conditions=@cobbler/source',
    '--disable-warning=ExperimentalWarning',
    '--input-type=module',
  ];
  const child = spawn(process.execPath, [...flags, '-e', text], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: 60_000,
  });
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(readdirSync(dirname(file)).toSorted()).toEqual(['runs.db', 'runs.db-made']);
});
