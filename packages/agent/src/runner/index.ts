/**
 * Durable workflows: runners, agent runs as workflows, and building blocks for other runners.
 *
 * @module
 */

export {
  attemptStep,
  checkRunId,
  pause,
  runBusy,
  runCancelled,
  runEnded,
  runnerClosed,
  type StepWork,
  toSerializableError,
  waitAborted,
} from './attempts.ts';
export type { ClaimedRun, Freed, Inbox, NewRun, Put, RunEndState, RunRecord, RunRetention } from './inbox.ts';
export { fencedRun, filledRetention, maxQueued, outputOf, readStart, statusOf } from './inbox.ts';
export { InboxRunner, type InboxRunnerOptions } from './inbox-runner.ts';
export { type MemoryRunnerOptions, memoryRunner } from './memory-runner.ts';
export type {
  Runner,
  StartOptions,
  StepCall,
  StepRetry,
  StepSettings,
  Steps,
  Workflow,
  WorkflowStatus,
} from './runner.ts';
export { type SessionWork, type SessionWorkflowOptions, sessionWorkflow } from './session-workflow.ts';
export {
  approvalSignal,
  runInSteps,
  type SteppedPrompt,
  type SteppedTask,
  waitSignal,
} from './stepped-run.ts';
export { type CallEnd, callWorkflow, type WorkflowCallOptions, type WorkflowWait } from './workflow-call.ts';
