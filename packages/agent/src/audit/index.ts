/**
 * The audit log in a database, for programs that run on any platform.
 *
 * @module
 */

export type { AuditFact, AuditRecord } from './record.ts';
export {
  type AuditLines,
  type AuditSigner,
  type StoredAuditLog,
  type StoredAuditOptions,
  storedAuditLog,
} from './stored-audit.ts';
