/**
 * The format of events, as zod schemas and as JSON Schema, for who reads logs.
 *
 * @module
 */

export { type LogIssue, type RepairedLog, repairLog } from './repair-log.ts';
export { eventJsonSchema, eventSchema } from './schema.ts';
