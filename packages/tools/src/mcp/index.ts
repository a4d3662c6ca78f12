/**
 * Tools of MCP servers, which are restarted after they end.
 *
 * @module
 */

export type { McpAddress, McpProgram, McpServerConfig, McpServerLimits } from '@cobbler/agent/node';
export type { ListChange } from './list-change.ts';
export { connectMcp, type Mcp, type McpOptions, type McpServerReport } from './mcp.ts';
export { mcpToolName } from './tool-name.ts';
