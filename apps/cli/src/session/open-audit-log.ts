/** A file of its own: importing it when it is needed loads the log and not its check. */
export { openAuditLog } from '@cobbler/agent/audit';
