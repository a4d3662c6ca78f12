/**
 * Types and functions for implementing a harness, in addition to `Harness` and `createHarness` of the main entry point.
 *
 * @module
 */

export { askForVerdict, readVerdict } from '../interfaces/verdict.ts';
export type { HarnessHandler, HarnessStatus } from './handler.ts';
export type { HarnessCapabilities, HarnessResumeOptions } from './harness.ts';
