/**
 * Conversations that survive crashes: `createHarness` runs one prompt at a time. Also the types and functions for
 * implementing a harness.
 *
 * @module
 */

export { askForVerdict, readVerdict } from '../interfaces/verdict.ts';
export {
  type FollowedRun,
  followRun,
  receiveRequests,
  type SharedRunOptions,
  type SharedStore,
  sharedStore,
} from './followed-run.ts';
export type { HarnessHandler, HarnessStatus } from './handler.ts';
export {
  createHarness,
  type Harness,
  type HarnessCapabilities,
  type HarnessOptions,
} from './harness.ts';
export type { ForkOptions, HarnessResumeOptions, PromptOptions } from './prompt-options.ts';
