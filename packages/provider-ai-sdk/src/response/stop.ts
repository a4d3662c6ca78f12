import type { LanguageModelV4FinishReason, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { StopReason, Usage } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import type { Fields } from '../values/fields.ts';
import { fieldsOf, listIn, numberIn, textIn } from '../values/fields.ts';

/**
 * Stop reasons of the SDK, of OpenAI's two APIs and of compatible services, and those of other services that the SDK
 * merges into one with a different meaning in Cobbler.
 */
const noted: ReadonlyMap<unknown, StopReason> = new Map(
  Object.entries<StopReason>({
    stop: 'complete',
    completed: 'complete',
    length: 'max_tokens',
    max_output_tokens: 'max_tokens',
    content_filter: 'refusal',
    tool_calls: 'tool_use',
    'tool-calls': 'tool_use',
    function_call: 'tool_use',
    pause_turn: 'pause',
    model_context_window_exceeded: 'context_full',
  }),
);

/**
 * Returns why the model stopped, or undefined if something else ended the response. The service's own reason takes
 * precedence over the SDK's, except over a refusal: the SDK reports a failure after an unknown event, and tool calls
 * whatever the service's reason is. For a stream that was cut off, the SDK also reports a finish, with the reason
 * `interrupted` or `error`, or with `other` and no reason of the service.
 */
export function stopOf(
  reason: LanguageModelV4FinishReason,
  word: string | undefined,
): StopReason | undefined {
  if (reason.unified === 'content-filter') return 'refusal';
  if (word !== undefined) return noted.get(word) ?? 'unknown';
  if (reason.unified === 'interrupted' || reason.unified === 'error') return undefined;
  if (reason.unified === 'other' && reason.raw === undefined) return undefined;
  return noted.get(reason.raw) ?? noted.get(reason.unified) ?? 'unknown';
}

/** Returns the response in a last event of the Responses API; undefined for other events. */
export function lastResponse({ type, response }: Fields): Fields | undefined {
  return type === 'response.completed' || type === 'response.incomplete' ? fieldsOf(response) : undefined;
}

/** Returns the service's own stop reason if this event contains it. The SDK reports it only after the body has ended. */
export function stopWord(event: Fields): string | undefined {
  const last = lastResponse(event);
  if (last === undefined) return textIn(fieldsOf(listIn(event['choices'])[0])['finish_reason']);
  // Without a reason, the type of the event is the reason: `completed` or `incomplete`.
  return textIn(fieldsOf(last['incomplete_details'])['reason']) ?? textIn(event['type'])?.slice(9);
}

/** Returns the model's usage. Counts that the SDK invents when the service sends none are omitted. */
export function usageOf(usage: LanguageModelV4Usage): Partial<Usage> {
  const { inputTokens: input, outputTokens: output } = usage;
  const { cache_creation: written } = fieldsOf(usage.raw);
  return defined({
    inputTokens: input.total,
    outputTokens: output.total,
    cacheReadTokens: input.cacheRead,
    cacheWriteTokens: input.cacheWrite,
    cacheWriteLongTokens: numberIn(fieldsOf(written)['ephemeral_1h_input_tokens']),
    reasoningTokens: output.reasoning,
  });
}

/** Returns the usage in the first event. The SDK reports usage at the end, but an interrupted response is billed too. */
export function earlyUsage({ message }: Fields): Partial<Usage> | undefined {
  const usage = fieldsOf(fieldsOf(message)['usage']);
  const plain = numberIn(usage['input_tokens']);
  const cacheReadTokens = numberIn(usage['cache_read_input_tokens']);
  const cacheWriteTokens = numberIn(usage['cache_creation_input_tokens']);
  const outputTokens = numberIn(usage['output_tokens']);
  if (plain === undefined) return undefined;
  const inputTokens = plain + (cacheReadTokens ?? 0) + (cacheWriteTokens ?? 0);
  return defined({ inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens });
}
