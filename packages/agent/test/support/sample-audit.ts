import { join } from 'node:path';
import { Readable } from 'node:stream';
import { systemRuntime } from '../../src/index.ts';
import type { Sample } from './sample-values.ts';
import { events, folder } from './sample-values.ts';

const options = { surface: 'run', version: '1.2.3', onTrouble: () => {}, now: () => 1, startedAt: 1, pid: 1 };

/** Samples of the functions of the audit log. */
export const auditSamples: Readonly<Record<string, Sample>> = {
  auditExpectation: () => [join(folder, 'audit')],
  auditFile: () => [folder],
  auditLines: () => [Readable.from(['one\n'])],
  openAuditLog: () => [{ folder: join(folder, 'audit'), ...options }],
  'openAuditLog().note': () => [{ kind: 'token', change: 'created', token: 'tok_1', scopes: ['read'] }],
  'openAuditLog().record': () => ['session-1', events, () => true],
  readAuditLine: () => ['{}'],
  storedAuditLog: () => [
    {
      ...{ surface: 'worker', onTrouble: () => {}, runtime: systemRuntime },
      lines: { last: async () => undefined, append: async () => true },
      signer: async () => ({ key: 'key', sign: async () => 'signature' }),
    },
  ],
  'storedAuditLog().record': () => ['session-1', events, () => true],
  verifyAudit: () => [Readable.from(['{}']), { anchors: ['digest'], key: 'key' }],
};
