/**
 * Runs that Restate completes across crashes, on any number of machines.
 *
 * @module
 */

export { type RestateRunner, type RestateRunnerOptions, restateRunner } from './restate-runner.ts';
