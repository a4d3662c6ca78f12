/**
 * Durable workflows: runners, the steps that they record, and agent runs as such steps.
 *
 * @module
 */

export {
  attemptStep,
  checkDueAt,
  checkRunId,
  ignoreRejection,
  pause,
  runBusy,
  runCancelled,
  runEnded,
  runNotFound,
  runnerClosed,
  type StepWork,
  toSerializableError,
  waitAborted,
} from './attempts.ts';
export type { ClaimedRun, Freed, Inbox, NewRun, Put, RunEndState, RunRecord, RunRetention } from './inbox.ts';
export { fencedRun, filledRetention } from './inbox.ts';
export { InboxRunner, type InboxRunnerOptions } from './inbox-runner.ts';
export { type MemoryRunnerOptions, memoryRunner } from './memory-runner.ts';
export { type CallEnd, callRoutine, type RoutineCallOptions, type RoutineWait } from './routine-call.ts';
export type {
  Routine,
  RoutineStatus,
  Runner,
  StartOptions,
  StepCall,
  StepRetry,
  StepSettings,
  Steps,
} from './runner.ts';
export { type SessionRoutineOptions, type SessionWork, sessionRoutine } from './session-routine.ts';
export {
  approvalSignal,
  runInSteps,
  type SteppedPrompt,
  type SteppedTask,
  waitSignal,
} from './stepped-run.ts';
