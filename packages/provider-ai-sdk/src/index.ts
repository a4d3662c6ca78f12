/**
 * Any language model of the Vercel AI SDK as an agent.
 *
 * @module
 */

export { type AiSdkOptions, createAiSdk } from './create-ai-sdk.ts';
export type { ModelLink, ModelSource, OpenModel } from './http/model-source.ts';
