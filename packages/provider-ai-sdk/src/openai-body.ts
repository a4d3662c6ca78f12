import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { isFields, parsedFields, textIn } from './values/fields.ts';

/**
 * Puts into a request of the Responses API what the SDK leaves out of it. When nothing is stored it sends messages
 * without their ids, and the service then misses what a reasoning item led to; and it loses the name of a tool that is
 * named like something every object inherits.
 */
export function completed(
  fetch: typeof globalThis.fetch,
  call: LanguageModelV4CallOptions,
): typeof globalThis.fetch {
  return (input, init) =>
    typeof init?.body === 'string'
      ? fetch(input, { ...init, body: completedBody(init.body, call) })
      : fetch(input, init);
}

function completedBody(body: string, { prompt }: LanguageModelV4CallOptions): string {
  const request = parsedFields(body);
  if (!Array.isArray(request['input'])) return body;
  const parts = prompt.flatMap((message) => (message.role === 'assistant' ? message.content : []));
  const names = new Map(
    parts.flatMap((part) => (part.type === 'tool-call' ? [[part.toolCallId, part.toolName]] : [])),
  );
  const ids = parts.flatMap((part) =>
    part.type === 'text' ? [part.providerOptions?.['openai']?.['itemId']] : [],
  );
  let texts = 0;
  const items = request['input'].map((item: unknown) => {
    if (!isFields(item)) return item;
    if (item['type'] === 'function_call')
      return { ...item, name: names.get(String(item['call_id'])) ?? item['name'] };
    // One message for each text, in their order.
    return item['role'] === 'assistant' ? withId(item, ids[texts++]) : item;
  });
  return JSON.stringify({ ...request, input: items });
}

/** Only whole messages have ids. */
function withId(message: Readonly<Record<string, unknown>>, id: unknown): unknown {
  const { content } = message;
  if (textIn(id) === undefined || typeof content !== 'string') return message;
  return {
    ...message,
    type: 'message',
    id,
    status: 'completed',
    content: [{ type: 'output_text', text: content, annotations: [] }],
  };
}
