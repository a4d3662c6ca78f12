/**
 * Claude Code through its own SDK, as an agent that works in sessions.
 *
 * @module
 */

export { ClaudeCodeAgent, type ClaudeCodeAgentConfig } from './claude-code-agent.ts';
export type { ClaudeSdk } from './load-sdk.ts';
