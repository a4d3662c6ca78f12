/**
 * A signed, hash-chained log of what programs asked users, what they decided, and which tools ran.
 *
 * @module
 */

export { type AuditFact, type AuditRecord, readAuditLine } from '../../audit/record.ts';
export { auditExpectation, auditFile } from './audit-file.ts';
export { type AuditLog, type AuditLogOptions, openAuditLog } from './audit-log.ts';
export { type AuditExpectation, type AuditReport, auditLines, verifyAudit } from './verify.ts';
