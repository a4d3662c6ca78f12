/**
 * Claude Code and Codex as backends, as harnesses, and behind the tool `agent`.
 *
 * @module
 */

export { type AgentTool, type AgentToolOptions, createAgentTool } from './agent-tool.ts';
export type {
  Backend,
  BackendContext,
  BackendProcess,
  BackendRequest,
  BackendResult,
  CallDecision,
  DelegatePermission,
} from './backend.ts';
export { type ClaudeCodeOptions, claudeCode } from './claude/claude-code.ts';
export type { ClaudeSettings } from './claude/claude-dialect.ts';
export { readClaudeLine, readClaudeMessage } from './claude/claude-line.ts';
export type { ProgramOptions } from './cli-backend.ts';
export { type CodexOptions, codex } from './codex/codex.ts';
export type { CodexSettings } from './codex/codex-dialect.ts';
export { readCodexLine } from './codex/codex-line.ts';
export { type DelegatedHarnessOptions, delegatedHarness } from './delegated-harness.ts';
export { type DelegatedLoop, type DelegatedLoopOptions, delegatedLoop } from './delegated-loop.ts';
export { buildEngine, type EngineOptions } from './engine.ts';
export type { BackendEvent, End, Totals } from './happening.ts';
export { findProgram } from './program.ts';
export {
  type AgentResponse,
  type AgentSession,
  agentResponse,
  type ExecuteCallbacks,
  type SessionAgent,
  type ToolActivity,
  type ToolVerdict,
} from './session-agent.ts';
export type { SessionReport } from './sessions.ts';
export { type OpenHarness, toSessionAgent } from './to-session-agent.ts';
