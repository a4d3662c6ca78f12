import { generateKeyPairSync, sign } from 'node:crypto';
import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import type { AuditLines, StoredAuditOptions } from '../../src/audit/index.ts';
import { storedAuditLog } from '../../src/audit/index.ts';
import type { EventBody } from '../../src/events/event.ts';
import { auditLines, openAuditLog, readAuditLine, verifyAudit } from '../../src/node/audit/index.ts';
import { eventsOf, said } from '../../src/testing/stored-events.ts';
import { auditFolder, recordsAt } from '../node/audit/audit-rig.ts';

const secret = 'sk-secret-4711';
const call = { turn: 0, index: 0, callId: 'call-1', toolName: 'send_mail' };
const bodies: readonly EventBody[] = [
  said(secret),
  { type: 'tool_started', ...call, arguments: { to: secret } },
  { type: 'tool_result', ...call, content: [{ type: 'text', text: secret }], isError: false, durationMs: 5 },
];
const events = eventsOf('session-1', bodies);
const { privateKey } = generateKeyPairSync('ed25519');
const key = String(privateKey.export({ format: 'jwk' }).x);
const signer = async () => ({
  key,
  sign: async (line: string) => sign(null, Buffer.from(line), privateKey).toString('base64url'),
});

/** Lines in memory. `meanwhile` runs before an append. */
function linesIn(kept: string[], meanwhile: () => void = () => {}): AuditLines {
  return {
    last: async () => kept.at(-1),
    async append(after, lines) {
      meanwhile();
      if (kept.length !== after) return false;
      kept.push(...lines);
      return true;
    },
  };
}

function openOn(lines: AuditLines, rest: Partial<StoredAuditOptions> = {}) {
  return storedAuditLog({
    lines,
    signer,
    surface: 'worker',
    onTrouble: (message) => {
      throw new Error(message);
    },
    ...rest,
  });
}

const kindsIn = (kept: readonly string[]) => kept.map((line) => readAuditLine(line)?.kind);
const verified = (kept: readonly string[]) =>
  verifyAudit(auditLines(Readable.from(kept.map((line) => `${line}\n`))), { key });

describe('an audit log in a database', () => {
  test('has the format, the digests and the check of the log in a file', async () => {
    const kept: string[] = [];
    const log = openOn(linesIn(kept));
    log.record('session-1', events, () => false);
    await log.flush();
    expect(kindsIn(kept)).toEqual(['call', 'call', 'head']);
    expect(kept.join()).not.toContain(secret);
    expect(await verified(kept)).toMatchObject({ lines: 3, signed: 3, key });
    const folder = auditFolder();
    const file = openAuditLog({ folder, surface: 'worker', version: '1', onTrouble: () => {} });
    file.record('session-1', events, () => false);
    file.close();
    const calls = (records: readonly { kind: string }[]) => records.filter(({ kind }) => kind === 'call');
    const bare = ({ seq: _, time, pid: _pid, prev: _prev, ...fact }: Record<string, unknown>) => fact;
    const own = kept.flatMap((line) => readAuditLine(line) ?? []);
    expect(calls(own).map(bare)).toEqual(calls(recordsAt(folder)).map(bare));
  });

  test('writes nothing if there is nothing to record, and no second head without a record', async () => {
    const kept: string[] = [];
    const log = openOn(linesIn(kept));
    log.record('session-1', events, () => true);
    await log.flush();
    expect(kept).toEqual([]);
    log.record('session-1', events, () => false);
    await log.flush();
    await log.flush();
    expect(kept).toHaveLength(3);
  });

  test('continues the chain of another program, also of one that writes at the same time', async () => {
    const kept: string[] = [];
    let disturbs = true;
    const other = openOn(linesIn(kept));
    const log = openOn({
      ...linesIn(kept),
      async last() {
        const line = kept.at(-1);
        if (disturbs) {
          disturbs = false;
          other.record('session-2', events, () => false);
          await other.flush();
        }
        return line;
      },
    });
    log.record('session-1', events, () => false);
    await log.flush();
    expect(await verified(kept)).toMatchObject({ lines: 6, signed: 6 });
  });

  test('signs every hundredth record', async () => {
    const kept: string[] = [];
    const log = openOn(linesIn(kept));
    for (let round = 0; round < 60; round += 1) log.record('session-1', events, () => false);
    await log.flush();
    expect(kindsIn(kept).indexOf('head')).toBe(99);
    expect(await verified(kept)).toMatchObject({ lines: 122, signed: 122 });
  });

  test('a changed line is found, because the head after it no longer fits', async () => {
    const kept: string[] = [];
    const log = openOn(linesIn(kept));
    log.record('session-1', events, () => false);
    await log.flush();
    kept[1] = (kept[1] ?? '').replace('"done"', '"denied"');
    expect((await verified(kept)).problem).toMatchObject({ line: 2 });
  });

  test('keeps records that cannot be written, reports why, and writes them later', async () => {
    const kept: string[] = [];
    const troubles: string[] = [];
    let isDown = true;
    const lines = linesIn(kept, () => {
      if (isDown) throw new Error('D1 is away');
    });
    const log = openOn(lines, { onTrouble: (message) => troubles.push(message) });
    log.record('session-1', events, () => false);
    await log.flush();
    expect(troubles[0]).toContain('D1 is away');
    isDown = false;
    await log.flush();
    expect(kindsIn(kept)).toEqual(['call', 'call', 'head']);
  });

  test('marks a gap for records that it could not keep', async () => {
    const kept: string[] = [];
    let isDown = true;
    const lines = linesIn(kept, () => {
      if (isDown) throw new Error('D1 is away');
    });
    const log = openOn(lines, { onTrouble: () => {} });
    const many = Array.from({ length: 5001 }, () => events.slice(1)).flat();
    log.record('session-1', many, () => false);
    await log.flush();
    isDown = false;
    await log.flush();
    expect(readAuditLine(kept[0] ?? '')).toMatchObject({ kind: 'gap', lost: 2 });
    expect((await verified(kept)).problem?.message).toContain('2 records could not be written');
  });

  test('gives up after a number of attempts while others write, and keeps the records', async () => {
    const troubles: string[] = [];
    const lines: AuditLines = { last: async () => undefined, append: async () => false };
    const log = openOn(lines, { onTrouble: (message) => troubles.push(message) });
    log.record('session-1', events, () => false);
    await log.flush();
    expect(troubles[0]).toContain('20 attempts');
  });
});
