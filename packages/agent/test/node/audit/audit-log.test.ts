import fs, {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
} from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { EventBody } from '../../../src/events/event.ts';
import { digestOf } from '../../../src/node/audit/head.ts';
import { auditExpectation, auditFile } from '../../../src/node/audit/index.ts';
import { eventsOf, said } from '../../../src/testing/stored-events.ts';
import { auditFolder, linesAt, openAt, recordsAt, verified, writeAt } from './audit-rig.ts';

const secret = 'sk-secret-4711';
const call = { turn: 0, index: 0, callId: 'call-1', toolName: 'run_command' };
const read = { ...call, callId: 'call-2', toolName: 'read_file' };
const text = [{ type: 'text', text: secret }] as const;
const bodies: readonly EventBody[] = [
  said(secret),
  {
    type: 'approval_requested',
    ...call,
    approvalId: 'ask-1',
    arguments: { command: secret },
    summary: secret,
    diff: secret,
    subject: secret,
    hash: 'f'.repeat(64),
  },
  {
    type: 'approval_decided',
    approvalId: 'ask-1',
    decision: 'allow',
    by: 'phone',
    message: secret,
    waitedMs: 5,
  },
  { type: 'tool_started', ...call, arguments: { command: secret } },
  { type: 'tool_result', ...call, content: text, isError: false, durationMs: 5 },
  { type: 'tool_started', ...read, arguments: { path: secret } },
  { type: 'tool_result', ...read, content: text, isError: false, durationMs: 5 },
];

/** Records the events of a session. */
async function recording(folder: string, events = eventsOf('session-1', bodies)): Promise<void> {
  const log = openAt(folder);
  log.record('session-1', events, (name) => name === 'read_file');
  log.close();
}

describe('an audit log', () => {
  test('records questions, decisions and calls of tools that are not read, in the order of the events', async () => {
    const folder = auditFolder();
    await recording(folder);
    const place = { session: 'session-1', run: 'run-1', surface: 'test', pid: 7, v: 1 };
    const records = recordsAt(folder);
    expect(records.map(({ kind }) => kind)).toEqual([
      ...['start', 'approval', 'decision', 'call', 'call', 'stop', 'head'],
    ]);
    const [, approval, decision, started, ended] = records;
    expect(approval).toMatchObject({
      ...place,
      approvalId: 'ask-1',
      tool: 'run_command',
      hash: 'f'.repeat(64),
    });
    expect(decision).toMatchObject({ ...place, approvalId: 'ask-1', decision: 'allow', by: 'phone' });
    expect(started).toMatchObject({ ...place, callId: 'call-1', tool: 'run_command', status: 'started' });
    expect(ended).toMatchObject({ ...place, callId: 'call-1', tool: 'run_command', status: 'done' });
    expect(started?.['hash']).toMatch(/^[0-9a-f]{64}$/);
    expect(await verified(folder)).toMatchObject({ lines: 7, signed: 7, head: { seq: 7 } });
  });

  test('contains no prompt, argument, output or message, in files that only the owner can read', async () => {
    const folder = auditFolder();
    await recording(folder);
    for (const name of ['audit.jsonl', 'anchor.json', 'key.pem', 'lock.db']) {
      expect(readFileSync(join(folder, name), 'utf8')).not.toContain(secret);
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    }
    expect(statSync(folder).mode & 0o077).toBe(0);
  });

  test('records a denied call of any tool, and nothing that a fork copied', async () => {
    const folder = auditFolder();
    const denied: EventBody = {
      type: 'tool_result',
      ...read,
      content: text,
      isError: true,
      denied: true,
      durationMs: 0,
    };
    const [first, ...copied] = eventsOf('session-1', [denied, ...bodies]);
    const inherited = copied.map((event) => ({ ...event, inherited: true as const }));
    await recording(folder, first === undefined ? [] : [first, ...inherited]);
    const calls = recordsAt(folder).filter(({ session }) => session !== undefined);
    expect(calls).toMatchObject([{ kind: 'call', tool: 'read_file', status: 'denied' }]);
  });

  test('leaves no file if there is nothing to record, and has the time of the start otherwise', async () => {
    const folder = auditFolder();
    const log = openAt(folder, { startedAt: 0 });
    log.record('session-1', eventsOf('session-1', bodies), () => true);
    expect(recordsAt(folder)[0]).toMatchObject({ kind: 'start', time: '1970-01-01T00:00:00.000Z' });
    const empty = auditFolder();
    const quiet = openAt(empty);
    quiet.record('session-1', eventsOf('session-1', [said(secret)]), () => true);
    quiet.close();
    expect(readdirSync(empty)).toEqual([]);
  });

  test('continues the chain in the next process, and signs every hundredth record', async () => {
    const folder = auditFolder();
    for (const token of ['tok_1', 'tok_2']) {
      const log = openAt(folder);
      for (let count = 0; count < 120; count += 1) log.note({ kind: 'token', change: 'created', token });
      log.close();
    }
    const heads = recordsAt(folder).filter(({ kind }) => kind === 'head');
    expect(heads.map(({ seq }) => seq)).toEqual([100, 124, 200, 248]);
    expect(await verified(folder)).toMatchObject({ signed: 248, head: { seq: 248 } });
  });

  test('writes in the background, in the order of the facts', () => {
    const folder = auditFolder();
    let write = (): void => undefined;
    const log = openAt(folder, { soon: (later) => (write = later) });
    log.note({ kind: 'sandbox', sandbox: 'off' }, { kind: 'token', change: 'removed', token: 'tok_1' });
    expect(() => linesAt(folder)).toThrow('ENOENT');
    write();
    expect(recordsAt(folder).map(({ kind }) => kind)).toEqual(['start', 'sandbox', 'token']);
    log.close();
    expect(recordsAt(folder)).toHaveLength(5);
  });
});

describe('after a crash', () => {
  test('keeps and marks an incomplete last line', async () => {
    const folder = auditFolder();
    writeAt(folder);
    const [whole = ''] = linesAt(folder).slice(-1);
    appendFileSync(auditFile(folder), whole.slice(0, 40));
    expect((await verified(folder)).problem).toEqual({ line: 5, message: 'is not a record and incomplete' });
    writeAt(folder);
    expect(linesAt(folder)[4]).toBe(whole.slice(0, 40));
    expect(recordsAt(folder)[4]).toMatchObject({ kind: 'torn', seq: 5 });
    expect(await verified(folder)).not.toHaveProperty('problem');
  });

  test('continues after a last line that lacks only its end', async () => {
    const folder = auditFolder();
    writeAt(folder);
    truncateSync(auditFile(folder), statSync(auditFile(folder)).size - 1);
    writeAt(folder);
    expect(recordsAt(folder).map(({ kind }) => kind)).not.toContain('torn');
    expect(await verified(folder)).toMatchObject({ lines: 8, signed: 8 });
  });

  test('a process that was killed leaves a log without its end, which the next one signs', async () => {
    const folder = auditFolder();
    openAt(folder).note({ kind: 'token', change: 'removed', token: 'tok_1' });
    expect(await verified(folder)).toMatchObject({ lines: 2, signed: 0 });
    writeAt(folder);
    expect(recordsAt(folder).map(({ kind }) => kind)).toEqual([
      ...['start', 'token', 'start', 'token', 'stop', 'head'],
    ]);
    expect(await verified(folder)).toMatchObject({ signed: 6 });
  });
});

describe('a log that cannot be written', () => {
  test('says so once, keeps the records, and writes them later', async () => {
    const folder = auditFolder();
    const messages: string[] = [];
    mkdirSync(auditFile(folder));
    const log = openAt(folder, { onTrouble: (message) => messages.push(message) });
    log.note({ kind: 'token', change: 'removed', token: 'tok_1' });
    log.note({ kind: 'token', change: 'removed', token: 'tok_2' });
    rmdirSync(auditFile(folder));
    log.close();
    expect(messages).toEqual([expect.stringContaining('EISDIR')]);
    expect(recordsAt(folder).map(({ kind }) => kind)).toEqual(['start', 'token', 'token', 'stop', 'head']);
    expect(await verified(folder)).not.toHaveProperty('problem');
  });

  test('creates its key later if the disk was full', async () => {
    const folder = auditFolder();
    const messages: string[] = [];
    const { writeFileSync } = fs;
    const writes = vi.spyOn(fs, 'writeFileSync').mockImplementationOnce((path, _, options) => {
      writeFileSync(path, '', options);
      throw new Error('ENOSPC: no space left on device');
    });
    onTestFinished(() => {
      writes.mockRestore();
      syncBuiltinESMExports();
    });
    syncBuiltinESMExports();
    const log = openAt(folder, { onTrouble: (message) => messages.push(message) });
    log.note({ kind: 'token', change: 'created', token: 'tok_1' });
    log.close();
    expect(messages).toEqual([expect.stringContaining('ENOSPC')]);
    writeAt(folder);
    expect(statSync(join(folder, 'key.pem')).mode & 0o777).toBe(0o600);
    expect(await verified(folder)).toMatchObject({ lines: 7, signed: 7 });
  });

  test('writes nothing twice if a head cannot be noted, and notes it with the next record', async () => {
    const folder = auditFolder();
    const messages: string[] = [];
    const blocked = join(folder, 'anchor.json.new');
    mkdirSync(blocked);
    const log = openAt(folder, { onTrouble: (message) => messages.push(message) });
    const token = { kind: 'token', change: 'removed', token: 'tok_1' } as const;
    log.note(...Array.from({ length: 98 }, () => token));
    log.note(token);
    expect([messages.length, recordsAt(folder).length]).toEqual([1, 101]);
    rmdirSync(blocked);
    log.note(token);
    expect(auditExpectation(folder).anchors).toEqual([digestOf(linesAt(folder)[99] ?? '')]);
    log.close();
    expect(recordsAt(folder).filter(({ kind }) => kind === 'token')).toHaveLength(100);
    expect(await verified(folder)).toMatchObject({ lines: 104, signed: 104 });
  });

  test('does not replace the note about a later head of another process', () => {
    const folder = auditFolder();
    const blocked = join(folder, 'anchor.json.new');
    mkdirSync(blocked);
    const log = openAt(folder, { onTrouble: () => undefined });
    const token = { kind: 'token', change: 'removed', token: 'tok_1' } as const;
    log.note(...Array.from({ length: 98 }, () => token));
    rmdirSync(blocked);
    writeAt(folder);
    const { anchors } = auditExpectation(folder);
    log.note(token);
    expect(auditExpectation(folder).anchors).toEqual(anchors);
  });

  test('marks a gap for records that it could not keep', async () => {
    const folder = auditFolder();
    mkdirSync(auditFile(folder));
    const log = openAt(folder, { onTrouble: () => undefined });
    const facts = Array.from(
      { length: 10_000 },
      () => ({ kind: 'token', change: 'removed', token: 'tok_1' }) as const,
    );
    log.note(...facts);
    rmdirSync(auditFile(folder));
    log.close();
    expect(recordsAt(folder)[0]).toMatchObject({ kind: 'gap', lost: 1 });
    expect((await verified(folder)).problem).toEqual({
      line: 1,
      message: 'marks a gap: 1 records could not be written',
    });
  });

  test('marks the loss of a signed head, although the next process continues', async () => {
    const folder = auditFolder();
    writeAt(folder);
    rmSync(auditFile(folder));
    writeAt(folder);
    writeAt(folder);
    expect((await verified(folder)).problem).toEqual({
      line: 1,
      message: 'marks a gap: the signed head 4 was missing when it was written',
    });
    expect(recordsAt(folder).filter(({ kind }) => kind === 'gap')).toHaveLength(1);
  });
});
