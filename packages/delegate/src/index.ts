/**
 * Claude Code and Codex as backends and as harnesses.
 *
 * @module
 */

export type {
  Backend,
  BackendContext,
  BackendProcess,
  BackendRequest,
  BackendResult,
  CallDecision,
  DelegatePermission,
} from './backend/backend.ts';
export type { ClaudeSettings } from './claude/claude-adapter.ts';
export { type ClaudeCodeOptions, claudeCode } from './claude/claude-code.ts';
export { findProgram } from './cli/program.ts';
export type { ProgramOptions } from './cli/program-options.ts';
export type { ProgramSandbox } from './cli/program-sandbox.ts';
export { type CodexOptions, codex } from './codex/codex.ts';
export type { CodexSettings } from './codex/codex-adapter.ts';
export type { BackendEvent, End, Totals } from './events/backend-event.ts';
export { type DelegatedHarnessOptions, delegatedHarness } from './harness/delegated-harness.ts';
export { type DelegatedLoop, type DelegatedLoopOptions, delegatedLoop } from './harness/delegated-loop.ts';
export { buildEngine, type EngineOptions } from './session-agent/engine.ts';
export {
  type AgentResponse,
  type AgentSession,
  agentResponse,
  type ExecuteCallbacks,
  type SessionAgent,
  type ToolActivity,
  type ToolCallContext,
  type ToolVerdict,
} from './session-agent/session-agent.ts';
export { type OpenHarness, toSessionAgent } from './session-agent/to-session-agent.ts';
