/**
 * Claude as an agent, through the Messages API.
 *
 * @module
 */

export { type ClaudeHarnessConfig, type ClaudeHarnessOptions, claudeHarness } from './claude-harness.ts';
export { type ClaudeOptions, createClaude } from './create-claude.ts';
export type { Thinking } from './envelope.ts';
export { type ClaudeModel, claudeModels } from './models.ts';
export { type ClaudeListPrice, claudePrice, claudePrices, claudePricing } from './prices.ts';
