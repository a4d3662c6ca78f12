/**
 * Runs that Restate completes despite crashes, on any number of machines.
 *
 * @module
 */

export { type RestateRunner, type RestateRunnerOptions, restateRunner } from './restate-runner.ts';
