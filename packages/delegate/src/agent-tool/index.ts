/**
 * The tool `agent`, with which a model gives tasks to Claude Code, Codex and sub-agents of this process.
 *
 * @module
 */

export { type AgentTool, type AgentToolOptions, createAgentTool } from './agent-tool.ts';
export type { SessionReport } from './sessions.ts';
export { type SubAgentOptions, subAgent } from './sub-agent.ts';
