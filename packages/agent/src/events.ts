/**
 * The format of events, as zod schemas and as JSON Schema, for who reads logs.
 *
 * @module
 */

export { eventJsonSchema, eventSchema } from './event-schema.ts';
export { type LogProblem, type MendedLog, mendLog } from './mend-log.ts';
export { exportSession, importSession } from './session-file.ts';
