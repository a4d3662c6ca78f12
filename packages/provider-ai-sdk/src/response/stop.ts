import type { LanguageModelV4FinishReason, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { StopReason, Usage } from '@cobbler/agent';
import { fieldsOf, textIn } from '../values/fields.ts';

/** The SDK's stop reasons, used when the service's own reason is not more specific. */
const unified: Partial<Readonly<Record<LanguageModelV4FinishReason['unified'], StopReason>>> = {
  stop: 'complete',
  length: 'max_tokens',
  'content-filter': 'refusal',
  'tool-calls': 'tool_use',
};

/** Stop reasons of services that the SDK merges into one with a different meaning in Cobbler. */
const raw: ReadonlyMap<string | undefined, StopReason> = new Map<string | undefined, StopReason>([
  ['pause_turn', 'pause'],
  ['model_context_window_exceeded', 'context_full'],
]);

/**
 * Returns why the model stopped, or undefined if something else ended the response. For a stream that was cut off,
 * the SDK also reports a finish, with the reason `interrupted` or `error`, or with `other` and no reason of the
 * service.
 */
export function stopOf(reason: LanguageModelV4FinishReason, hasCalls: boolean): StopReason | undefined {
  if (reason.unified === 'interrupted' || reason.unified === 'error') return undefined;
  if (reason.unified === 'other' && reason.raw === undefined) return undefined;
  const stop = raw.get(reason.raw) ?? unified[reason.unified] ?? 'unknown';
  const mayWantCalls = reason.raw === 'stop' || reason.raw === 'completed';
  return stop === 'complete' && hasCalls && mayWantCalls ? 'tool_use' : stop;
}

/** Stop reasons of OpenAI's two APIs and of compatible services. */
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

/**
 * Returns the service's own stop reason if this event contains it. The SDK reports it only after the body has ended.
 */
export function stopWord(event: unknown): string | undefined {
  const { type, choices, response } = fieldsOf(event);
  if (type === 'response.completed') return 'completed';
  if (type === 'response.incomplete')
    return textIn(fieldsOf(fieldsOf(response)['incomplete_details'])['reason']) ?? 'incomplete';
  return textIn(Array.isArray(choices) ? fieldsOf(choices[0])['finish_reason'] : undefined);
}

/**
 * Returns the stop reason to use. The service's own reason takes precedence over the SDK's, except over a refusal:
 * the SDK reports a failure after an unknown event, and tool calls whatever the service's reason is.
 */
export function settledReason(
  concluded: LanguageModelV4FinishReason,
  word: string | undefined,
): LanguageModelV4FinishReason {
  if (word === undefined || concluded.unified === 'content-filter') return concluded;
  return { unified: noted.get(word) ?? 'other', raw: word };
}

/** Returns the model's usage. Counts that the SDK invents when the service sends none are omitted. */
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
 * Returns the usage in the first event of a response. The SDK reports usage only at the end, but an interrupted
 * response is billed too.
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
