/**
 * Messages, tools, events, limits, gates, and the loop over them. Runs wherever JavaScript does.
 *
 * @module
 */

export {
  type Compacted,
  type Compaction,
  type CompactionContext,
  compactionPoint,
  firstOf,
  keepLast,
} from './context/compaction.ts';
export type { ContextPolicy } from './context/context.ts';
export { type Offload, type OffloadOptions, offload } from './context/offload.ts';
export { type SummarizeOptions, type Summarizer, summarize } from './context/summary.ts';
export { approvalText, argumentLines, type ShownCall, visibleText } from './events/approval-text.ts';
export type * from './events/event.ts';
export { isStored } from './events/event.ts';
export { fold } from './events/fold.ts';
export { type MessageIssue, type RepairedMessages, repairMessages } from './events/repair-messages.ts';
export { foldVersion, snapshotState, snapshotText } from './events/snapshot.ts';
export { addUsd, spendingOf } from './events/spending.ts';
export { type Approval, emptyState, type OpenCall, type State } from './events/state.ts';
export type { HarnessHandler, HarnessStatus } from './harness/handler.ts';
export {
  createHarness,
  type Harness,
  type HarnessCapabilities,
  type HarnessOptions,
  type HarnessResumeOptions,
  type PromptOptions,
} from './harness/harness.ts';
export type * from './interfaces/agent.ts';
export { type BlobPart, type Blobs, type MemoryBlobsOptions, memoryBlobs } from './interfaces/blobs.ts';
export type { AgentConfig, AgentFactory, Environment, FactoryConfig } from './interfaces/config.ts';
export { cleanKey, defaultProvider, parseModel, resolveAgent } from './interfaces/config.ts';
export type * from './interfaces/gate.ts';
export { allowAll, planMode, readOnly, rules } from './interfaces/gate.ts';
export type { Countable, LimitName, Limits, Price, Pricing, Reservation } from './interfaces/limits.ts';
export { Budget, costOf, defaultLimits } from './interfaces/limits.ts';
export type { ExecutionMetrics, RequestUsage } from './interfaces/metrics.ts';
export type { OutputOption } from './interfaces/output.ts';
export type { StandardIssue, StandardResult, StandardSchema } from './interfaces/standard-schema.ts';
export type * from './interfaces/tool.ts';
export { defineTool, fromFlatTool, toolOutput } from './interfaces/tool.ts';
export { askForVerdict, readVerdict } from './interfaces/verdict.ts';
export { checkSchema, schemaProblem } from './json-schema/check-schema.ts';
export type { Action, Finish, Policy } from './loop/action.ts';
export type { ApprovalDecision, NamedDecision } from './loop/approval-decision.ts';
export { decide } from './loop/decide.ts';
export { Executor } from './loop/executor.ts';
export type { AdvanceOptions, ExecutorOptions, ResumeOptions, RunOptions } from './loop/options.ts';
export type { Prompt, PromptMessage } from './loop/prompt.ts';
export { type Advance, Run, type RunResult } from './loop/run.ts';
export type { RunRetention } from './runner/journal.ts';
export { type MemoryRunnerOptions, memoryRunner } from './runner/memory-runner.ts';
export type * from './runner/runner.ts';
export { type RunnerHarness, type RunnerHarnessOptions, runnerHarness } from './runner/runner-harness.ts';
export { type SessionRoutineOptions, type SessionWork, sessionRoutine } from './runner/session-routine.ts';
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
} from './runner/step.ts';
export { approvalSignal, runInSteps, type SteppedPrompt, type SteppedTask } from './runner/stepped-run.ts';
export { type Fork, forkSession } from './store/fork-session.ts';
export { type MemoryStoreOptions, memoryStore } from './store/memory-store.ts';
export { openSession } from './store/open-session.ts';
export type { Parent, SessionHead, SessionInfo, SessionStats, SessionStatus } from './store/session-info.ts';
export { addToStats, emptyStats, sessionInfo, titleOf } from './store/session-info.ts';
export {
  badCursor,
  checkRetention,
  checkSessionId,
  cursorOf,
  invalidPosition,
  isSessionId,
  type ListCursor,
  type ListOptions,
  type Origin,
  pageSize,
  parseCursor,
  type Retention,
  type SessionPage,
  type SessionStore,
  type Store,
  sequenceGap,
  sessionIdPattern,
  sessionInUse,
  type Writer,
  writerReplaced,
} from './store/store.ts';
export { type BackoffPolicy, backoff } from './values/backoff.ts';
export {
  AgentError,
  type CauseSummary,
  type ErrorData,
  type ErrorKind,
  isErrorKind,
  serviceCode,
} from './values/errors.ts';
export type { Json, JsonObject } from './values/json.ts';
export { maxResultBytes, plainJson } from './values/json-text.ts';
export type * from './values/message.ts';
export { callsOf, fromFlat, textOf, toFlat, userMessage } from './values/message.ts';
export { isoTime, type Runtime, systemRuntime } from './values/runtime.ts';
export { addUsage, noUsage, type Usage } from './values/usage.ts';
