/**
 * Durable workflows: runners, the steps that they record, and agent runs as such steps.
 *
 * @module
 */

export type { RunRetention } from './journal.ts';
export { type MemoryRunnerOptions, memoryRunner } from './memory-runner.ts';
export type {
  Routine,
  RoutineStatus,
  Runner,
  StartOptions,
  StepCall,
  StepRetry,
  StepSettings,
  Steps,
  StepValue,
} from './runner.ts';
export { type RunnerHarness, type RunnerHarnessOptions, runnerHarness } from './runner-harness.ts';
export { type SessionRoutineOptions, type SessionWork, sessionRoutine } from './session-routine.ts';
export {
  attemptStep,
  checkDuration,
  checkRunId,
  ignoreRejection,
  pause,
  runBusy,
  runCancelled,
  runEnded,
  runNotFound,
  runnerClosed,
  StepNames,
  type StepWork,
  stepMismatch,
  toSerializableError,
  waitAborted,
} from './step.ts';
export { approvalSignal, runInSteps, type SteppedPrompt, type SteppedTask } from './stepped-run.ts';
