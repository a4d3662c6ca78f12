import { dropUnread } from '@cobbler/agent/provider';
import type { Fields } from '../values/fields.ts';
import { fieldsOf, listIn } from '../values/fields.ts';

/**
 * The fields of each object with content, by its type or its place: those that the SDK reads, and those that hold
 * none of the content.
 */
const known: ReadonlyMap<unknown, readonly string[]> = new Map(
  Object.entries({
    // The Messages API.
    text: ['type', 'text', 'citations'],
    thinking: ['type', 'thinking', 'signature'],
    tool_use: ['type', 'id', 'name', 'input', 'caller'],
    text_delta: ['type', 'text'],
    thinking_delta: ['type', 'thinking'],
    input_json_delta: ['type', 'partial_json'],
    signature_delta: ['type', 'signature'],
    message_delta: ['type', 'delta', 'usage', 'context_management'],
    message_stop: ['type', 'amazon-bedrock-invocationMetrics'],
    // The Responses API.
    message: ['type', 'id', 'role', 'status', 'content', 'phase'],
    reasoning: ['type', 'id', 'status', 'summary', 'content', 'encrypted_content'],
    function_call: ['type', 'id', 'status', 'call_id', 'name', 'arguments', 'caller'],
    output_text: ['type', 'text', 'annotations', 'logprobs'],
    // Chat Completions.
    delta: ['role', 'content', 'refusal', 'tool_calls', 'annotations', 'reasoning', 'reasoning_content'],
    tool_call: ['index', 'id', 'type', 'function', 'extra_content'],
    function: ['name', 'arguments'],
    choice: ['finish_reason', 'logprobs', 'content_filter_results', 'content_filter_offsets'],
  }),
);

/** Returns the first field with data of an event that the SDK would drop. */
export function unreadField(event: Fields): string | undefined {
  const lost: string[] = [];
  const check = (value: unknown, kind: unknown) => {
    const read = known.get(kind);
    if (read !== undefined)
      dropUnread(String(kind), fieldsOf(value), read, { ignore: (name) => lost.push(name) });
  };
  const checkItem = (value: unknown) => {
    const item = fieldsOf(value);
    check(item, item['type']);
    for (const part of listIn(item['content'])) check(part, fieldsOf(part)['type']);
  };
  const { type, content_block: block, delta, item, response, choices } = event;
  check(event, type);
  check(block, fieldsOf(block)['type']);
  check(delta, fieldsOf(delta)['type']);
  checkItem(item);
  for (const one of listIn(fieldsOf(response)['output'])) checkItem(one);
  for (const choice of listIn(choices).map(fieldsOf)) {
    check(choice['delta'], 'delta');
    if (choice['delta'] === undefined) check(choice, 'choice');
    for (const call of listIn(fieldsOf(choice['delta'])['tool_calls']).map(fieldsOf)) {
      check(call, 'tool_call');
      check(call['function'], 'function');
    }
  }
  return lost[0];
}
