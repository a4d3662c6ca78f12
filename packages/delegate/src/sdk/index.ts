export { ClaudeCodeAgent, type ClaudeCodeAgentConfig } from './claude-code-agent.ts';
