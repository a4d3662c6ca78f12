import type { ResponseSink } from '@cobbler/agent/provider';
import type { Fields } from '../fields.ts';
import { isFields, textIn, withDefaults } from '../fields.ts';

/** The text of a delta or a message. */
export interface MessageText {
  text: string;
  reasoning: string;
  /** Some of the text is a refusal. */
  refused: boolean;
}

/**
 * Reads the words of a delta or a message. Content is a text, or with some servers a list of parts; a part that cannot
 * be read makes the answer garbled, so that no answer is silently shorter than what was sent.
 */
export function readSaid(from: Fields, out: ResponseSink): MessageText {
  // Compatible servers show reasoning under one of these names, some under both with the same text.
  const reasoning = withDefaults(from, 'reasoning_content') ?? textIn(from, 'reasoning');
  const said: MessageText = { text: '', reasoning, refused: false };
  const { content } = from;
  if (typeof content === 'string') said.text = content;
  else if (Array.isArray(content)) for (const part of content) takePart(part, said, out);
  else if (isFields(content)) takePart(content, said, out);
  const refusal = withDefaults(from, 'refusal');
  if (refusal !== undefined) takeRefusal(refusal, said);
  return said;
}

/** The answer cannot be trusted. */
export function fail(out: ResponseSink, why: string): void {
  out.fail({ kind: 'broken', message: `The response cannot be parsed: ${why}.` });
}

function takePart(part: unknown, said: MessageText, out: ResponseSink): void {
  if (typeof part === 'string') said.text += part;
  else if (!isFields(part)) return;
  else if (part['type'] === 'refusal') takeRefusal(textIn(part, 'refusal'), said);
  else if (part['type'] === 'thinking') said.reasoning += thinkingIn(part['thinking']);
  else if (typeof part['text'] === 'string') said.text += part['text'];
  // Mistral names its sources so, beside the text.
  else if (part['type'] !== 'reference')
    fail(out, `it contains a part of type ${JSON.stringify(part['type'])}, which is not supported`);
}

function takeRefusal(text: string, said: MessageText): void {
  said.refused = true;
  said.text += text;
}

function thinkingIn(thinking: unknown): string {
  if (typeof thinking === 'string') return thinking;
  return Array.isArray(thinking)
    ? thinking.map((part) => (isFields(part) ? textIn(part, 'text') : '')).join('')
    : '';
}
