export { eventJsonSchema, eventSchema } from './event-schema.ts';
export { type LogProblem, type MendedLog, mendLog } from './mend-log.ts';
