/**
 * OpenAI as an agent: the Responses API, and Chat Completions for every compatible server.
 *
 * @module
 */

export type { OpenAIApi, OpenAIOptions } from './create-openai.ts';
export { createOpenAI } from './create-openai.ts';
export { modelAliases } from './models.ts';
export { type OpenAIListPrice, openAIPrice, openAIPrices, openAIPricing } from './prices.ts';
