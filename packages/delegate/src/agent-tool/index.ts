/**
 * The tool `agent`, with which a model gives tasks to Claude Code and Codex.
 *
 * @module
 */

export { type AgentTool, type AgentToolOptions, createAgentTool } from './agent-tool.ts';
export type { SessionReport } from './sessions.ts';
