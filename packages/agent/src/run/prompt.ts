import { AgentError } from '../values/errors.ts';
import type { Reader } from '../values/input.ts';
import { data, flag, invalid, listOf, read, record, text } from '../values/input.ts';
import { isObject } from '../values/json.ts';
import type { AssistantPart, Message, UserPart } from '../values/message.ts';
import { isOwned } from '../values/owned.ts';
import { maxPromptBytes, maxWaiting, sizeOf } from '../values/sizes.ts';
import { assistantContent, userContent } from './content.ts';

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
 * Reads a prompt given by a caller: the messages of a conversation, or the parts of one user message. Messages of a
 * result keep their identity, because providers find cached bytes by it.
 * @throws AgentError `invalid`, code `bad_prompt`, with the location and the expected value; `prompt_too_large`.
 */
export function readPrompt(prompt: unknown): readonly Message[] {
  return notTooLarge(read(prompt, promptMessages, 'prompt', 'bad_prompt'));
}

const promptMessages: Reader<readonly Message[]> = (value) => {
  const given = data(value);
  if (Array.isArray(given) ? given.some(isMessageLike) : typeof given !== 'string') return messages(given);
  return [{ role: 'user', content: userContent(given) }];
};

function notTooLarge<Content>(content: Content): Content {
  const bytes = sizeOf(content);
  if (bytes <= maxPromptBytes) return content;
  const message = `The prompt is ${bytes} bytes long, but the maximum is ${maxPromptBytes}. Send less in one prompt.`;
  throw new AgentError({ kind: 'invalid', code: 'prompt_too_large', message });
}

/**
 * Reads the content of a user message given by a caller.
 * @throws AgentError `invalid`, code `bad_prompt` or `prompt_too_large`.
 */
export function readUserContent(content: unknown): readonly UserPart[] {
  return notTooLarge(read(content, (value) => userContent(data(value)), 'content', 'bad_prompt'));
}

/**
 * Checks that one more message or prompt can wait. `waiting` contains it too.
 * @param what names them, such as `messages to the run`.
 * @throws AgentError `invalid`, code `too_many_waiting`.
 */
export function checkWaiting(waiting: readonly unknown[], what: string): void {
  const bytes = sizeOf(waiting);
  if (waiting.length <= maxWaiting && bytes <= maxPromptBytes) return;
  const message = `${waiting.length} ${what} (${bytes} bytes) would be waiting, but the maximum is ${maxWaiting} (${maxPromptBytes} bytes). Try again later.`;
  throw new AgentError({ kind: 'invalid', code: 'too_many_waiting', message });
}

/** Returns whether an item is meant to be a message, so that the error matches what the caller intended. */
function isMessageLike(item: unknown): boolean {
  return isObject(item) && ('role' in item || 'parts' in item);
}

const resultFields = record({ toolCallId: text, isError: flag, notRun: flag }, ['toolCallId']);

const readMessage: Reader<Message> = (value) => {
  if (!isObject(value)) throw invalid(value, 'Use a message with "role" and "content"');
  if (isOwned(value)) return value as unknown as Message;
  const { role, content } = value;
  if (content === undefined && Array.isArray(value['parts']))
    throw invalid(content, 'Pass its parts as "content"; "parts" belongs to UI messages', '.content');
  if (role !== 'user' && role !== 'assistant' && role !== 'tool_result')
    throw invalid(role, roleAdvice(role), '.role');
  if (role === 'tool_result') resultFields(value);
  return { ...value, ...(role === 'assistant' ? answer : userFields)(value) } as unknown as Message;
};

const userFields = record({ content: userContent }, ['content']);
const answer = record({ content: assistantContent }, ['content']);
const messages = listOf(readMessage, 'a string, an array of parts, or an array of messages');

function roleAdvice(role: unknown): string {
  if (role === 'system' || role === 'developer') return 'Pass instructions as the option "system" instead';
  if (role === 'tool' || role === 'function') return 'Use "tool_result", with the toolCallId of the call';
  return 'Use "user", "assistant" or "tool_result"';
}

/** Returns whether a message contains anything but whitespace. */
export function saysSomething(content: readonly UserPart[]): boolean {
  return content.some((part) => part.type !== 'text' || part.text.trim() !== '');
}
