/**
 * Messages, tools, events, limits, gates, and the loop over them. Runs wherever JavaScript does.
 *
 * @module
 */

export type { Action, Finish, Policy } from './action.ts';
export type * from './agent.ts';
export type { ApprovalAnswer, NamedAnswer } from './approval-answer.ts';
export { approvalText, argumentLines, type ShownCall, visibleText } from './approval-text.ts';
export { type BlobPart, type Blobs, type MemoryBlobsOptions, memoryBlobs } from './blobs.ts';
export { checkSchema, schemaProblem } from './check-schema.ts';
export {
  type Compacted,
  type Compaction,
  type CompactionMeans,
  compactionPoint,
  firstOf,
  keepLast,
} from './compaction.ts';
export type { AgentConfig, AgentFactory, Environment, FactoryConfig } from './config.ts';
export { cleanKey, defaultProvider, parseModel, resolveAgent } from './config.ts';
export type { ContextPolicy } from './context.ts';
export { decide } from './decide.ts';
export {
  AgentError,
  type CauseSummary,
  type ErrorData,
  type ErrorKind,
  isErrorKind,
  serviceCode,
} from './errors.ts';
export type * from './event.ts';
export { isStored } from './event.ts';
export { Executor } from './executor.ts';
export { fold } from './fold.ts';
export { type Fork, forkSession } from './fork-session.ts';
export type * from './gate.ts';
export { allowAll, planMode, readOnly, rules } from './gate.ts';
export type { HarnessHandler, HarnessStatus } from './handler.ts';
export {
  createHarness,
  type Harness,
  type HarnessCapabilities,
  type HarnessOptions,
  type PromptOptions,
  type TakeUpOptions,
} from './harness.ts';
export type { Json, JsonObject } from './json.ts';
export type { Countable, LimitName, Limits, Price, Pricing, Reservation } from './limits.ts';
export { Budget, costOf, defaultLimits } from './limits.ts';
export { type MemoryRunnerOptions, memoryRunner } from './memory-runner.ts';
export { type MemoryStoreOptions, memoryStore } from './memory-store.ts';
export { type MendedMessages, type MessageProblem, mendMessages } from './mend-messages.ts';
export type * from './message.ts';
export { callsOf, fromFlat, textOf, toFlat, userMessage } from './message.ts';
export type { AnswerCount, ExecutionMetrics } from './metrics.ts';
export { openSession } from './open-session.ts';
export type { OutputOption } from './output.ts';
export { plainJson } from './plain-json.ts';
export type { AdvanceOptions, ExecutorOptions, ResumeOptions, RunOptions } from './plan.ts';
export type { Prompt, PromptMessage } from './prompt.ts';
export { type Advance, Run, type RunResult } from './run.ts';
export type { RunRetention } from './run-journal.ts';
export type * from './runner.ts';
export { maxResultBytes } from './runner.ts';
export { type RunnerHarness, type RunnerHarnessOptions, runnerHarness } from './runner-harness.ts';
export { isoTime, type Runtime, systemRuntime } from './runtime.ts';
export type { StandardIssue, StandardResult, StandardSchema } from './schema.ts';
export type { Parent, SessionHead, SessionInfo, SessionStatus, Tally } from './session-info.ts';
export { count, newTally, sessionInfo, titleOf } from './session-info.ts';
export { type SessionRoutineOptions, type SessionWork, sessionRoutine } from './session-routine.ts';
export { foldVersion, snapshotState, snapshotText } from './snapshot.ts';
export { addUsd, spendingOf } from './spending.ts';
export { type Spill, type SpillOptions, spill } from './spill.ts';
export { type Approval, emptyState, type OpenCall, type State } from './state.ts';
export {
  attemptStep,
  changedStep,
  checkDuration,
  checkRunId,
  keptError,
  minded,
  noRun,
  notAwaited,
  pause,
  runBusy,
  runCancelled,
  runnerClosed,
  runOver,
  StepNames,
  type StepWork,
} from './step-attempts.ts';
export { approvalSignal, runInSteps, type SteppedPrompt, type SteppedTask } from './stepped-run.ts';
export {
  badCursor,
  checkRetention,
  checkSessionId,
  cursorOf,
  fenced,
  gap,
  inUse,
  isSessionId,
  type ListOptions,
  type ListPlace,
  misplaced,
  type Origin,
  pageSize,
  placeOf,
  type Retention,
  type SessionPage,
  type SessionStore,
  type Store,
  sessionIdPattern,
  type Writer,
} from './store.ts';
export { type SummarizeOptions, type Summarizer, summarize } from './summary.ts';
export type * from './tool.ts';
export { defineTool, fromSeedTool, toolOutput } from './tool.ts';
export { addUsage, noUsage, type Usage } from './usage.ts';
export { askForVerdict, readVerdict } from './verdict.ts';
