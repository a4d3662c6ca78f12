import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { AgentError } from '@cobbler/agent';
import { isFields } from '../values/fields.ts';

/** The fetch function for a model, so that its requests use our transport. */
export interface ModelLink {
  /** To be given to the SDK's provider as its `fetch`. Good for one request. */
  readonly fetch: typeof globalThis.fetch;
  /** The next request of the model. */
  readonly call: LanguageModelV4CallOptions;
}

/** Makes a model for one request. Cheap, because the SDK's models hold nothing but their settings. */
export type OpenModel = (link: ModelLink) => LanguageModelV4;

/** A model made over the link, or one that was made elsewhere and goes its own way. */
export type ModelSource = LanguageModelV4 | OpenModel;

/** The model of a source as a function, whichever it is. */
export function opener(source: ModelSource): OpenModel {
  return typeof source === 'function' ? source : () => source;
}

/**
 * The model itself, to read its names.
 * @throws AgentError `invalid` if it is not a language model of version 4 of the SDK's interface.
 */
export function modelOf(open: OpenModel): LanguageModelV4 {
  const model: unknown = open({ fetch: notYet, call: { prompt: [] } });
  const version = isFields(model) ? model['specificationVersion'] : undefined;
  if (version === 'v4') return model as unknown as LanguageModelV4;
  throw new AgentError({
    kind: 'invalid',
    code: 'bad_model',
    message: `This is not a language model of the AI SDK 7${version === undefined ? '' : ` but one of its version ${String(version)}`}. Pass what a provider of that SDK returns, such as anthropic('claude-haiku-4-5').`,
  });
}

function notYet(): Promise<Response> {
  return Promise.reject(new Error('This model only provides its names and cannot respond.'));
}
