/**
 * The format of stored events: its schemas, the repair of logs, and sessions as files. Loads zod, which the loop
 * does not need.
 *
 * @module
 */

export { type LogIssue, type RepairedLog, repairLog } from '../events/repair-log.ts';
export { eventJsonSchema, eventSchema } from '../events/schema.ts';
export { exportSession, importSession } from './session-file.ts';
