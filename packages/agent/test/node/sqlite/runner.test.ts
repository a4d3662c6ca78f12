import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { WriteMoment } from '../../../src/node/index.ts';
import type { SqliteRunnerOptions } from '../../../src/node/sqlite-runner/sqlite-runner.ts';
import { sqliteRunner } from '../../../src/node/sqlite-runner/sqlite-runner.ts';
import type { Runner, Workflow } from '../../../src/runner/runner.ts';
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

function open(file: string, workflow: Workflow, more: Options = {}): Runner {
  const runner = sqliteRunner({ file, workflow, runtime, ...more });
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

/** Advances the clock until a condition holds. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let look = 0; look < 300; look += 1) {
    if (await holds()) return;
    await runtime.advance(20);
  }
  throw new Error('Timed out.');
}

function locks(file: string): string[] {
  return readdirSync(dirname(file)).filter((name) => name.includes('-owner-'));
}

const waits: Workflow = async (_input, steps) => (await steps.waitFor('go')) ?? null;

/** Returns a workflow that records its steps and waits for a signal between them. */
function counting(into: string[], name: string): Workflow {
  return async (_input, steps) => {
    await steps.run('first', () => into.push(`${name} first`));
    const came = await steps.waitFor('go');
    await steps.run('second', () => into.push(`${name} second`));
    return came ?? null;
  };
}

test('only the owner can read the files of a runner', async () => {
  const file = newFile();
  const runner = open(file, waits);
  await runner.start(null, { runId: 'one' });
  for (const name of readdirSync(dirname(file)))
    expect([name, statSync(join(dirname(file), name)).mode & 0o777]).toEqual([name, 0o600]);
});

test('a process can signal a run of another process and get its result [P13]', async () => {
  const file = newFile();
  const ran: string[] = [];
  const one = open(file, counting(ran, 'one'));
  const two = open(file, counting(ran, 'two'));
  await one.start(null, { runId: 'a' });
  await until(() => ran.length === 1);
  const result = two.result('a');
  expect(await two.start(null, { runId: 'a' })).toBe(false);
  expect(await two.signal('a', 'go', 'from two')).toBe(true);
  await until(async () => (await two.status('a')).state === 'done');
  await runtime.advance(400);
  expect(await result).toBe('from two');
  expect(ran).toEqual(['one first', 'one first', 'one second']);
});

test('a run stops when another process cancels it', async () => {
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

test('at most 1,000 runs of one key wait [P29]', async () => {
  const one = open(newFile(), counting([], 'one'));
  const started = Array.from({ length: 1_001 }, (_, number) =>
    one.start(null, { runId: `run-${number}`, key: 'k' }),
  );
  expect(new Set(await Promise.all(started))).toEqual(new Set([true]));
  expect((await refusal(() => one.start(null, { runId: 'last', key: 'k' }))).code).toBe('busy');
  expect(await one.start(null, { runId: 'last', key: 'other' })).toBe(true);
  await one.close();
});

test('runs with the same key take turns, even if different processes started them', async () => {
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
  expect(ran.filter((line) => line.endsWith('second'))).toHaveLength(2);
});

test('a process taken for dead starts no step and does not end a run that another took over [P13]', async () => {
  const file = newFile();
  const ran: string[] = [];
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const one = open(file, async (_input, steps) => {
    await steps.run('first', async () => {
      ran.push('one first');
      await held;
    });
    await steps.run('second', () => ran.push('one second')).catch((error) => ran.push(error.code));
    return 'from one';
  });
  await one.start(null, { runId: 'a' });
  await until(() => ran.length === 1);
  // Simulates a lock that the system released.
  for (const lock of locks(file)) rmSync(join(dirname(file), lock));
  const two = open(file, async (_input, steps) => {
    await steps.run('first', () => ran.push('two first'));
    return (await steps.waitFor('go')) ?? null;
  });
  while (!ran.includes('two first')) await new Promise((resolve) => setImmediate(resolve));
  release();
  while (ran.length < 3) await new Promise((resolve) => setImmediate(resolve));
  expect(ran).toEqual(['one first', 'two first', 'fenced']);
  await two.signal('a', 'go', 'from two');
  await until(async () => (await two.status('a')).state === 'done');
  expect(await two.result('a')).toBe('from two');
});

test('the transaction that ends a run checks the epoch [P13]', async () => {
  const file = newFile();
  const one = open(file, async (_input, steps) => {
    await steps.run('first', () => {
      edit(file, 'UPDATE runs SET epoch = epoch + 1');
      return null;
    });
    return null;
  });
  await one.start(null, { runId: 'a' });
  await runtime.advance(400);
  expect(edit(file, 'SELECT state FROM runs')).toEqual([{ state: 'open' }]);
});

test('a process detects a cancellation by another process within 200 ms', async () => {
  const file = newFile();
  let stopped: number | undefined;
  const one = open(file, async (_input, steps) => {
    await steps.run('hangs', ({ signal }) => {
      return new Promise<null>(() => signal.addEventListener('abort', () => (stopped = runtime.now())));
    });
    return null;
  });
  const two = open(file, waits);
  await one.start(null, { runId: 'a' });
  await runtime.advance(20);
  const began = runtime.now();
  expect(await two.cancel('a')).toBe(true);
  await until(() => stopped !== undefined);
  expect((stopped ?? began) - began).toBeLessThanOrEqual(200);
});

test('a run that is due after its process ended starts on time in the next process [P13]', async () => {
  const file = newFile();
  const began: number[] = [];
  const workflow: Workflow = async (_input, steps) => steps.run('only', () => began.push(runtime.now()));
  const one = open(file, workflow);
  const dueAt = runtime.now() + 5000;
  await one.start(null, { runId: 'later', key: 'k', dueAt });
  await one.start(null, { runId: 'now', key: 'k' });
  await until(async () => (await one.status('now')).state === 'done');
  expect(await one.status('later')).toEqual({ state: 'queued' });
  await one.close();
  const two = open(file, workflow);
  await until(async () => (await two.status('later')).state === 'done');
  expect(began[1]).toBeGreaterThanOrEqual(dueAt);
  expect(began[1]).toBeLessThanOrEqual(dueAt + 1000);
});

test('unfinished runs in a file of version 1 continue, with the signals that they received', async () => {
  const file = newFile();
  copyFileSync(fileURLToPath(new URL('../../fixtures/runs/1.db', import.meta.url)), file);
  const runner = open(file, async (input, steps) => ({ input, came: (await steps.waitFor('go')) ?? null }));
  await until(async () => (await runner.status('open')).state === 'done');
  expect(await runner.result('open')).toEqual({ input: { chat: 7 }, came: 'yes' });
  expect(await runner.result('ended')).toBe('kept');
  expect(await runner.start(null, { runId: 'ended' })).toBe(false);
});

test('ended runs are kept within the retention limits and then removed with all their data', async () => {
  const file = newFile();
  const done: Workflow = async (_input, steps) => steps.run('one', () => 1);
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
  for (const table of ['runs', 'signals'])
    expect([table, edit(file, `SELECT count(*) AS n FROM ${table}`)]).toEqual([table, [{ n: 0 }]]);
});

test('a start and a signal are committed with synchronous = FULL [P13]', async () => {
  const used = new Set<DatabaseSync>();
  const real = DatabaseSync.prototype.exec;
  const exec = vi.spyOn(DatabaseSync.prototype, 'exec').mockImplementation(function (
    this: DatabaseSync,
    sql,
  ) {
    used.add(this);
    return Reflect.apply(real, this, [sql]);
  });
  onTestFinished(() => exec.mockRestore());
  /** The first commit that contains the run and the first that contains its signal. */
  const first: Record<string, unknown> = {};
  const onWrite = (moment: WriteMoment) => {
    for (const db of moment === 'commit' ? used : []) {
      // The lock of a process is another database.
      if (basename(db.location() ?? '') !== basename(file)) continue;
      const mode = db.prepare('PRAGMA synchronous').get()?.['synchronous'];
      for (const table of ['runs', 'signals'])
        if (db.prepare(`SELECT 1 FROM ${table}`).get() !== undefined) first[table] ??= mode;
    }
  };
  const file = newFile();
  const runner = open(file, waits, { onWrite });
  await runtime.advance(20);
  await runner.start(null, { runId: 'a' });
  const full = 2;
  expect(first).toEqual({ runs: full });
  await runner.signal('a', 'go', 1);
  expect(first).toEqual({ runs: full, signals: full });
});

test('a file that is newer, damaged, missing or of another program is rejected and left alone', async () => {
  const damages: Record<string, (file: string) => void> = {
    store_newer: (file) => edit(file, 'PRAGMA user_version = 99'),
    store_foreign: (file) => edit(file, 'PRAGMA application_id = 1'),
    store_damaged: (file) => writeFileSync(file, 'no database, but long enough to be looked at '.repeat(100)),
    store_missing: (file) => rmSync(file),
  };
  /** Returns the content of the file; undefined if it does not exist. */
  const bytesOf = (file: string) => (existsSync(file) ? readFileSync(file, 'base64') : undefined);
  for (const [expected, damage] of Object.entries(damages)) {
    const file = newFile();
    await open(file, waits).close();
    damage(file);
    const before = bytesOf(file);
    const { code, message } = await refusal(() => sqliteRunner({ file, workflow: waits, runtime }));
    expect(code).toBe(expected);
    expect(message).toContain(file);
    expect(message).not.toContain('session');
    expect([expected, bytesOf(file) === before]).toEqual([expected, true]);
  }
});

test('a temporary write failure of the inbox only delays a run [P13]', async () => {
  const file = newFile();
  let calls = 0;
  let isBroken = false;
  const onWrite = () => {
    if (isBroken) throw new Error('the disk is gone');
  };
  const workflow: Workflow = async (_input, steps) => {
    calls += 1;
    await steps.waitFor('go');
    isBroken = calls === 2;
    return 'through';
  };
  const runner = open(file, workflow, { onWrite });
  await runner.start(null, { runId: 'a' });
  await runner.signal('a', 'go', null);
  await until(() => isBroken);
  await runtime.advance(400);
  isBroken = false;
  await until(async () => (await runner.status('a')).state === 'done');
  expect(await runner.result('a')).toBe('through');
});

test('a process exits after it closes its runner, and leaves no lock or log files', async () => {
  const file = newFile();
  const source = new URL('../../../src/node/sqlite-runner/sqlite-runner.ts', import.meta.url).href;
  const text = `
    import { sqliteRunner } from ${JSON.stringify(source)};
    const runner = sqliteRunner({ file: ${JSON.stringify(file)}, workflow: (input, steps) => steps.waitFor('go', { until: Date.now() + 1e9 }) });
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
