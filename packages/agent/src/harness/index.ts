/**
 * What an implementation of a harness builds on, beside `Harness` and `createHarness` of the main entry.
 *
 * @module
 */

export { askForVerdict, readVerdict } from '../interfaces/verdict.ts';
export type { HarnessHandler, HarnessStatus } from './handler.ts';
export type { HarnessCapabilities, HarnessResumeOptions } from './harness.ts';
