import type { LanguageModelV4FinishReason, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { StopReason, Usage } from '@cobbler/agent';
import { fieldsOf, textIn } from '../values/fields.ts';

/** The SDK's few reasons, where the service's own word says nothing finer. */
const unified: Partial<Readonly<Record<LanguageModelV4FinishReason['unified'], StopReason>>> = {
  stop: 'complete',
  length: 'max_tokens',
  'content-filter': 'refusal',
  'tool-calls': 'tool_use',
};

/** Words of services that the SDK folds into a reason that means something else to us. */
const raw: ReadonlyMap<string | undefined, StopReason> = new Map<string | undefined, StopReason>([
  ['pause_turn', 'pause'],
  ['model_context_window_exceeded', 'context_full'],
]);

/**
 * Why the model stopped, or nothing when it was not the model that ended the answer: the SDK finishes a stream that
 * broke off like any other, and says so by `interrupted`, `error`, or by having no word of the service for `other`.
 */
export function stopOf(reason: LanguageModelV4FinishReason, hasCalls: boolean): StopReason | undefined {
  if (reason.unified === 'interrupted' || reason.unified === 'error') return undefined;
  if (reason.unified === 'other' && reason.raw === undefined) return undefined;
  const stop = raw.get(reason.raw) ?? unified[reason.unified] ?? 'unknown';
  const mayWantCalls = reason.raw === 'stop' || reason.raw === 'completed';
  return stop === 'complete' && hasCalls && mayWantCalls ? 'tool_use' : stop;
}

/** Words of OpenAI's two services, and of those that speak like them, for why a model stopped. */
const noted: ReadonlyMap<unknown, LanguageModelV4FinishReason['unified']> = new Map<
  unknown,
  LanguageModelV4FinishReason['unified']
>([
  ['stop', 'stop'],
  ['completed', 'stop'],
  ['length', 'length'],
  ['max_output_tokens', 'length'],
  ['content_filter', 'content-filter'],
  ['tool_calls', 'tool-calls'],
  ['function_call', 'tool-calls'],
]);

/** The service's own word for why the model stopped, when this event says it; the SDK tells it once the body has ended. */
export function stopWord(event: unknown): string | undefined {
  const { type, choices, response } = fieldsOf(event);
  if (type === 'response.completed') return 'completed';
  if (type === 'response.incomplete')
    return textIn(fieldsOf(fieldsOf(response)['incomplete_details'])['reason']) ?? 'incomplete';
  return textIn(Array.isArray(choices) ? fieldsOf(choices[0])['finish_reason'] : undefined);
}

/**
 * The reason to go by: of what the SDK concludes only a refusal is finer than the service's own word. It calls an
 * answer failed for an event that it does not know, and takes calls for wanted whatever the word.
 */
export function settledReason(
  concluded: LanguageModelV4FinishReason,
  word: string | undefined,
): LanguageModelV4FinishReason {
  if (word === undefined || concluded.unified === 'content-filter') return concluded;
  return { unified: noted.get(word) ?? 'other', raw: word };
}

/** The usage of the model. Counts that the SDK invents when the service sends none are omitted. */
export function usageOf(usage: LanguageModelV4Usage): Partial<Usage> {
  const { inputTokens: input, outputTokens: output } = usage;
  const long = fieldsOf(fieldsOf(usage.raw)['cache_creation'])['ephemeral_1h_input_tokens'];
  return {
    ...counted('inputTokens', input.total),
    ...counted('outputTokens', output.total),
    ...counted('cacheReadTokens', input.cacheRead),
    ...counted('cacheWriteTokens', input.cacheWrite),
    ...counted('cacheWriteLongTokens', long),
    ...counted('reasoningTokens', output.reasoning),
  };
}

/**
 * The usage in the first event of a response. The SDK reports it only at the end, but an interrupted response is
 * charged too.
 */
export function earlyUsage(event: unknown): Partial<Usage> | undefined {
  const usage = fieldsOf(fieldsOf(fieldsOf(event)['message'])['usage']);
  const plain = usage['input_tokens'];
  if (typeof plain !== 'number') return undefined;
  const read = counted('cacheReadTokens', usage['cache_read_input_tokens']);
  const written = counted('cacheWriteTokens', usage['cache_creation_input_tokens']);
  const inputTokens = plain + (read.cacheReadTokens ?? 0) + (written.cacheWriteTokens ?? 0);
  return { inputTokens, ...read, ...written, ...counted('outputTokens', usage['output_tokens']) };
}

function counted(name: keyof Usage, value: unknown): Partial<Usage> {
  return typeof value === 'number' ? { [name]: value } : {};
}
