/**
 * OpenAI as an agent: Responses, and Chat Completions for every server that speaks them.
 *
 * @module
 */

export { chatTranscripts } from './chat/transcript.ts';
export type { OpenAIApi, OpenAIOptions } from './create-openai.ts';
export { createOpenAI } from './create-openai.ts';
export { modelAliases, openAIPrice, openAIPriceSource, openAIPricing } from './models.ts';
export { responsesTranscripts } from './responses/transcript.ts';
