export { type ClaudeOptions, createClaude } from './create-claude.ts';
export type { Thinking } from './envelope.ts';
export { type ClaudeModel, claudeModels, claudePrice, claudePricing } from './models.ts';
export { claudeTranscripts } from './transcript.ts';
