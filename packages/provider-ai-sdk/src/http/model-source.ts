import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { AgentError } from '@cobbler/agent';
import { fieldsOf } from '../values/fields.ts';

/** The connection of a model, which sends one request through Cobbler's transport. */
export interface ModelLink {
  /** The `fetch` option of the SDK's provider, for one request. */
  readonly fetch: typeof globalThis.fetch;
  /** The next request to the model. */
  readonly call: LanguageModelV4CallOptions;
}

/** Creates a model for one request. This is cheap, because the SDK's models contain only their settings. */
export type OpenModel = (link: ModelLink) => LanguageModelV4;

/** A function that creates a model for a connection, or an existing model with its own connection. */
export type ModelSource = LanguageModelV4 | OpenModel;

/** Returns the source as a function that opens the model. */
export function opener(source: ModelSource): OpenModel {
  return typeof source === 'function' ? source : () => source;
}

/**
 * Returns the model, to read its names.
 * @throws AgentError `invalid` if it is not a language model of version 4 of the SDK's interface.
 */
export function modelOf(open: OpenModel): LanguageModelV4 {
  const model: unknown = open({ fetch: notYet, call: { prompt: [] } });
  const version = fieldsOf(model)['specificationVersion'];
  if (version === 'v4') return model as unknown as LanguageModelV4;
  throw new AgentError({
    kind: 'invalid',
    code: 'bad_model',
    message: `\`model\` is not an AI SDK 7 language model${version === undefined ? '' : ` (its interface version is ${String(version)})`}. Pass a model from a provider of that SDK, such as anthropic('claude-haiku-4-5').`,
  });
}

function notYet(): Promise<Response> {
  return Promise.reject(
    new Error('This model provides only a provider name and a model name, and cannot send requests.'),
  );
}
