/**
 * Durable runs in PostgreSQL, for any number of processes.
 *
 * @module
 */

export { type PostgresRunnerOptions, postgresRunner } from './postgres-runner.ts';
