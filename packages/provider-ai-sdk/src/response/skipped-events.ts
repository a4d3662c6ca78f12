import { fieldsOf, isFields, textIn } from '../values/fields.ts';

/** Kinds of events, blocks and deltas that an answer is made of: one that cannot be read is a garbled answer. */
const known =
  /^(message_(start|delta|stop)|content_block_(start|delta|stop)|text|thinking|redacted_thinking|tool_use|(text|thinking|signature|input_json)_delta|error|response\.(created|completed|incomplete|failed|output_\w+\.\w+|function_call_arguments\.\w+|reasoning_\w+\.\w+|refusal\.\w+)|message|function_call|reasoning)$/;

/** Where events hold what they say. */
const holders = ['content_block', 'delta', 'item', 'part', 'message', 'response'];

/**
 * True if an event that matches no schema of the SDK can be skipped: its type is unknown, or it has no content. A
 * known type with content that does not match is an error.
 */
export function canSkip(value: unknown): boolean {
  const event = fieldsOf(value);
  if (isFields(event['error'])) return false;
  const held = holders.map((name) => event[name]);
  const kinds = [event['type'], ...held.map((part) => fieldsOf(part)['type'])];
  if (kinds.some((kind) => typeof kind === 'string' && !known.test(kind))) return true;
  if (typeof event['type'] === 'string') return !held.some(speaks);
  return !choicesOf(event).some(({ delta, finish_reason }) => speaks(delta) || speaks(finish_reason));
}

/** Events of Chat Completions have no kind, and say what they say in choices. */
function choicesOf({
  choices,
}: Readonly<Record<string, unknown>>): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(choices) ? choices.map(fieldsOf) : [];
}

function speaks(value: unknown): boolean {
  if (!isFields(value)) return textIn(value) !== undefined;
  return Object.entries(value).some(
    ([name, held]) =>
      name !== 'type' && (textIn(held) !== undefined || (Array.isArray(held) && held.length > 0)),
  );
}
