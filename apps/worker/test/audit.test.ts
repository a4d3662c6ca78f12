import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import type { Event } from '@cobbler/agent';
import { auditLines, verifyAudit } from '@cobbler/agent/audit';
import { sqlEvents } from '@cobbler/assistant';
import { d1AuditLines } from '@cobbler/assistant/cloudflare';
import { sqliteSql } from '@cobbler/assistant/sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { audited, auditIn, serveAudit } from '../src/audit.ts';
import type { Env } from '../src/env.ts';
import { settingsOf } from '../src/settings.ts';
import { handlerOf } from '../src/worker.ts';

const token = 'a'.repeat(32);
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const AUDIT_KEY = privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64');
const needed = { TELEGRAM_BOT_TOKEN: '1:a', TELEGRAM_WEBHOOK_SECRET: 'secret', ANTHROPIC_API_KEY: 'key' };

function database() {
  const folder = mkdtempSync(join(tmpdir(), 'audit-lines-'));
  const sql = sqliteSql({ file: join(folder, 'chats.db') });
  onTestFinished(() => {
    sql.close();
    rmSync(folder, { recursive: true });
  });
  return sql;
}

function ask(authorization?: string): Request {
  return new Request('http://worker.invalid/audit', {
    headers: authorization === undefined ? {} : { authorization },
  });
}

const place = { time: '2026-01-01T00:00:00.000Z', runId: 'run-1', turn: 0, index: 0, callId: 'call-1' };

describe('the audit log of the worker', () => {
  it('contains what the store accepted, signed with the key of the settings', async () => {
    const sql = database();
    const log = auditIn(sql, AUDIT_KEY, (message) => {
      throw new Error(message);
    });
    const turns = audited(sqlEvents(sql), log, []);
    const epoch = await turns.claim('chat:7:1');
    const started = { ...place, seq: 1, type: 'tool_started', toolName: 'note', arguments: {} } as Event;
    await turns.append('chat:7:1', [started], { epoch });
    await expect(turns.append('chat:7:1', [started], { epoch })).rejects.toThrow();
    await log.flush();
    const response = await serveAudit(ask(`Bearer ${token}`), sql, token);
    const body = await response.text();
    expect(response.headers.get('cache-control')).toBe('no-store');
    const report = await verifyAudit(auditLines(Readable.from([body])));
    expect(report).toMatchObject({ lines: 2, signed: 2, key: publicKey.export({ format: 'jwk' }).x });
    expect(report.problem).toBeUndefined();
  });

  it('is served in order, however long it is', async () => {
    const sql = database();
    const lines = Array.from({ length: 1001 }, (_, index) => `line ${index}`);
    await d1AuditLines(sql).append(0, lines);
    const response = await serveAudit(ask(`Bearer ${token}`), sql, token);
    expect(await response.text()).toBe(`${lines.join('\n')}\n`);
  });

  it('is closed without a token in the settings, and to other tokens', async () => {
    const sql = database();
    expect((await serveAudit(ask('Bearer '), sql, undefined)).status).toBe(404);
    expect((await serveAudit(ask(`Bearer ${token}`), sql, undefined)).status).toBe(404);
    for (const given of [
      undefined,
      token,
      `Bearer ${token}a`,
      `Bearer ${token.slice(1)}`,
      'Bearer ',
      'Basic x',
    ])
      expect((await serveAudit(ask(given), sql, token)).status, given).toBe(401);
  });

  it('has no other method, and does not answer before the worker is set up', async () => {
    const post = new Request('http://worker.invalid/audit', { method: 'POST' });
    expect((await handlerOf().fetch(post, needed as unknown as Env)).status).toBe(404);
  });

  it.each([
    ['AUDIT_KEY', 'not a key'],
    ['AUDIT_KEY', Buffer.alloc(48).toString('base64')],
    // The alphabet of base64url, which `atob` rejects.
    ['AUDIT_KEY', `MC4CAQAwBQYDK2VwBCIEI${'_'.repeat(43)}`],
    ['AUDIT_TOKEN', 'short'],
    ['AUDIT_TOKEN', 'with a space '.repeat(4)],
  ])('%s cannot be %s', (name, value) => {
    expect(() => settingsOf({ ...needed, [name]: value } as unknown as Env)).toThrow(`${name} `);
  });

  it('accepts a key that base64 has broken into lines', () => {
    const given = { ...needed, AUDIT_KEY: `${AUDIT_KEY.slice(0, 20)}\n${AUDIT_KEY.slice(20)}\n` };
    expect(settingsOf(given as unknown as Env).auditKey).toBe(AUDIT_KEY);
  });
});
