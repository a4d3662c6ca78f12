/**
 * Messages, tools, events, limits, gates and the agent loop. Runs in any JavaScript environment.
 *
 * @module
 */

export type { ContextPolicy } from './context/context.ts';
export type { Event, LiveEvent, RunEvent, RunStatus } from './events/event.ts';
export { isStored } from './events/event.ts';
export type { ToolRunEvent } from './events/tool-event.ts';
export type {
  Agent,
  AgentEvent,
  Capabilities,
  ModelRequest,
  ModelResponse,
  RequestContext,
  StopReason,
  ToolCall,
} from './interfaces/agent.ts';
export { Budget } from './interfaces/budget.ts';
export type { AgentConfig, Environment } from './interfaces/config.ts';
export type { Gate, GateCall, GateContext, GateRules, Verdict } from './interfaces/gate.ts';
export { allowAll, planMode, readOnly, rules } from './interfaces/gate.ts';
export type { LimitName, Limits, Price, Pricing } from './interfaces/limits.ts';
export { defaultLimits } from './interfaces/limits.ts';
export type { ExecutionMetrics } from './interfaces/metrics.ts';
export type { OutputOption } from './interfaces/output.ts';
export type { Recorder, Spending } from './interfaces/spending.ts';
export type { StandardSchema } from './interfaces/standard-schema.ts';
export type {
  PlannedChange,
  PreviewContext,
  Tool,
  ToolAnswer,
  ToolContext,
  ToolDefinition,
  ToolEffect,
  ToolPreview,
  ToolQuestion,
  ToolStep,
  ToolWait,
  WaitStart,
} from './interfaces/tool.ts';
export { defineTool } from './interfaces/tool.ts';
export type { ToolOutput } from './interfaces/tool-output.ts';
export { toolOutput } from './interfaces/tool-output.ts';
export { Executor } from './loop/executor.ts';
export type { ApprovalDecision } from './run/approvals.ts';
export type { Hook } from './run/hook.ts';
export type {
  AdvanceOptions,
  AsToolOptions,
  ExecutorOptions,
  ResumeOptions,
  RunOptions,
} from './run/options.ts';
export type { Prompt } from './run/prompt.ts';
export type { Advance, CompleteResult, Run, RunResult } from './run/run.ts';
export {
  addUsage,
  callsOf,
  costOf,
  fileKind,
  sniffMediaType,
  subtractUsage,
  textOf,
  userMessage,
} from './run/value-functions.ts';
export { memoryStore } from './store/memory-store.ts';
export { openSession } from './store/open-session.ts';
export type { SessionInfo, SessionStatus } from './store/session-info.ts';
export type { SessionStore, Store } from './store/store.ts';
export { AgentError, type ErrorData, type ErrorKind } from './values/errors.ts';
export type { Json, JsonObject } from './values/json.ts';
export type {
  AssistantMessage,
  AssistantPart,
  FilePart,
  Message,
  ProviderDataPart,
  ReasoningPart,
  Source,
  TextPart,
  ToolCallPart,
  ToolResultMessage,
  ToolResultPart,
  UserMessage,
  UserPart,
} from './values/message.ts';
export { type Runtime, systemRuntime } from './values/runtime.ts';
export { noUsage, type Usage } from './values/usage.ts';
