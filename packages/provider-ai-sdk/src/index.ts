export { type AiSdkOptions, createAiSdk } from './create-ai-sdk.ts';
export type { ModelLink, ModelSource, OpenModel } from './model-source.ts';
