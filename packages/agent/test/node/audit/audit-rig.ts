import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { AuditLog, AuditLogOptions, AuditRecord, AuditReport } from '../../../src/node/audit/index.ts';
import {
  auditExpectation,
  auditFile,
  auditLines,
  openAuditLog,
  readAuditLine,
  verifyAudit,
} from '../../../src/node/audit/index.ts';

/** Creates a directory that is removed at the end of the test. */
export function auditFolder(atEnd: (remove: () => void) => void = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-audit-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Opens a log that writes at once. */
export function openAt(folder: string, rest: Partial<AuditLogOptions> = {}): AuditLog {
  return openAuditLog({
    folder,
    surface: 'test',
    version: '1.2.3',
    onTrouble: (message) => {
      throw new Error(message);
    },
    now: () => Date.parse('2026-01-02T03:04:05.678Z'),
    soon: (write) => write(),
    pid: 7,
    ...rest,
  });
}

/** Writes three records and a head, as a program does. */
export function writeAt(folder: string): void {
  const log = openAt(folder);
  log.note({ kind: 'token', change: 'created', token: 'tok_1' });
  log.close();
}

export function linesAt(folder: string): string[] {
  return readFileSync(auditFile(folder), 'latin1').trimEnd().split('\n');
}

export function recordsAt(folder: string): AuditRecord[] {
  return linesAt(folder).flatMap((line) => readAuditLine(line) ?? []);
}

/** Checks the log of a directory, like `cobbler audit verify`. */
export async function verified(folder: string): Promise<AuditReport> {
  const chunks = Readable.from([readFileSync(auditFile(folder), 'latin1')]);
  return await verifyAudit(auditLines(chunks), auditExpectation(folder));
}
