/**
 * Google's Gemini models as agents.
 *
 * @module
 */

export { createGemini, type GeminiConfig } from './create-gemini.ts';
export { type GeminiModel, geminiModels } from './models.ts';
export { type GeminiListPrice, geminiPrice, geminiPrices, geminiPricing } from './prices.ts';
