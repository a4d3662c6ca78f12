import { AgentError } from '../values/errors.ts';
import { currentParts } from '../values/file-part.ts';
import { invalidValue } from '../values/invalid-value.ts';
import { isObject } from '../values/json.ts';
import type { AssistantPart, Message, UserPart } from '../values/message.ts';
import { sizeOf } from '../values/size-of.ts';

/** Maximum number of bytes of a prompt or of a message to a run: of the event that stores it. */
export const maxPromptBytes = 67_108_864;

/** A message as a caller can write it: a {@link Message}, or one with a string as its content. */
export type PromptMessage =
  | { readonly role: 'user'; readonly content: string | readonly UserPart[] }
  | { readonly role: 'assistant'; readonly content: string | readonly AssistantPart[] }
  | (Omit<Extract<Message, { role: 'tool_result' }>, 'content'> & {
      readonly content: string | readonly UserPart[];
    });

/** The start of a run: a string, the parts of one user message, or a conversation. */
export type Prompt = string | readonly UserPart[] | readonly PromptMessage[];

/**
 * Reads a prompt given by a caller: the messages of a conversation, or the parts of one user message. Values that are
 * already valid keep their identity, because providers find cached bytes by it.
 * @throws AgentError `invalid`, code `bad_prompt`, with the location and the expected value; `prompt_too_large`.
 */
export function readPrompt(value: unknown): readonly Message[] {
  if (typeof value === 'string' || (Array.isArray(value) && !value.some(isMessageLike)))
    return [{ role: 'user', content: readUserContent(value, 'prompt') }];
  if (!Array.isArray(value))
    throw bad('prompt', value, 'Use a string, an array of parts, or an array of messages');
  return notTooLarge(value.map((message, index) => readMessage(message, `prompt[${index}]`)));
}

function notTooLarge<Content>(content: Content): Content {
  const bytes = sizeOf(content);
  if (bytes <= maxPromptBytes) return content;
  const message = `The prompt has ${bytes} bytes, and the maximum is ${maxPromptBytes}. Send less at once.`;
  throw new AgentError({ kind: 'invalid', code: 'prompt_too_large', message });
}

/**
 * Reads the content of a user message given by a caller.
 * @throws AgentError `invalid`, code `bad_prompt` or `prompt_too_large`.
 */
export function readUserContent(value: unknown, where = 'content'): readonly UserPart[] {
  return notTooLarge(readParts(value, where, userFields));
}

/** Returns whether an item is meant to be a message, so that the error matches what the caller intended. */
function isMessageLike(item: unknown): boolean {
  return isObject(item) && ('role' in item || 'parts' in item);
}

function readMessage(value: unknown, where: string): Message {
  if (!isObject(value)) throw bad(where, value, 'Use a message with role and content');
  const { role, content, toolCallId } = value;
  if (content === undefined && Array.isArray(value['parts']))
    throw bad(`${where}.content`, content, 'Pass its parts as "content"; "parts" belongs to UI messages');
  if (role !== 'user' && role !== 'assistant' && role !== 'tool_result')
    throw bad(`${where}.role`, role, roleAdvice(role));
  if (role === 'tool_result' && typeof toolCallId !== 'string')
    throw bad(`${where}.toolCallId`, toolCallId, 'Use the id of the call');
  const parts = readParts(content, `${where}.content`, role === 'assistant' ? assistantFields : userFields);
  // Its content is unchanged if it was valid.
  return (parts === content ? value : { ...value, content: parts }) as unknown as Message;
}

/** The fields that a part of each type must have. */
type Fields = Readonly<Record<string, Readonly<Record<string, 'string' | 'object'>>>>;

const userFields: Fields = {
  text: { text: 'string' },
  file: { mediaType: 'string', data: 'string' },
};

const assistantFields: Fields = {
  text: { text: 'string' },
  reasoning: { text: 'string' },
  opaque: { seal: 'object' },
  tool_call: { id: 'string', toolName: 'string' },
};

function readParts<Part>(value: unknown, where: string, fields: Fields): readonly Part[] {
  if (typeof value === 'string')
    return [{ type: 'text', text: value }] as readonly unknown[] as readonly Part[];
  if (!Array.isArray(value)) throw bad(where, value, 'Use a string or an array of parts');
  const parts = currentParts(value);
  for (const [index, part] of parts.entries()) checkPart(part, `${where}[${index}]`, fields);
  return parts as readonly unknown[] as readonly Part[];
}

function checkPart(part: unknown, where: string, fields: Fields): void {
  if (!isObject(part)) throw bad(where, part, 'Use a part such as { type: "text", text }');
  const { type } = part;
  const known = typeof type === 'string' && Object.hasOwn(fields, type) ? fields[type] : undefined;
  if (known === undefined) throw bad(`${where}.type`, type, partAdvice(type, fields));
  for (const [name, kind] of Object.entries(known)) {
    const isFine = kind === 'string' ? typeof part[name] === 'string' : isObject(part[name]);
    if (!isFine)
      throw bad(`${where}.${name}`, part[name], kind === 'string' ? 'Use a string' : 'Use an object');
  }
}

function roleAdvice(role: unknown): string {
  if (role === 'system' || role === 'developer') return 'Pass instructions as the option "system" instead';
  if (role === 'tool' || role === 'function') return 'Use "tool_result", with the toolCallId of its call';
  return 'Use "user", "assistant" or "tool_result"';
}

function partAdvice(type: unknown, fields: Fields): string {
  if (/call|tool_use/.test(String(type)) && 'tool_call' in fields)
    return 'Use { type: "tool_call", id, toolName, arguments }';
  if (/result/.test(String(type))) return 'Use a separate message with role "tool_result"';
  if (/image|document|audio/.test(String(type)) && 'file' in fields)
    return 'Use { type: "file", mediaType, data } with data in base64';
  return `Use "${Object.keys(fields).join('" or "')}"`;
}

function bad(where: string, value: unknown, advice: string): AgentError {
  return invalidValue('bad_prompt', where, value, advice);
}
