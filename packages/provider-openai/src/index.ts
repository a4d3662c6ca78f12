/**
 * OpenAI as an agent: the Responses API, and Chat Completions for every compatible server.
 *
 * @module
 */

export type { OpenAIOptions } from './create-openai.ts';
export { createOpenAI } from './create-openai.ts';
export type { OpenAIApi } from './endpoint.ts';
export { modelAliases } from './models.ts';
export { type OpenAIListPrice, openAIPrice, openAIPrices, openAIPricing } from './prices.ts';
