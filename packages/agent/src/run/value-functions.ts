import type { Price } from '../interfaces/limits.ts';
import * as limits from '../interfaces/limits.ts';
import type { FileKind } from '../values/file-part.ts';
import * as files from '../values/file-part.ts';
import type { Reader } from '../values/input.ts';
import { data, invalid, listOf, read, readUsage, record, text, when } from '../values/input.ts';
import { isObject } from '../values/json.ts';
import type {
  AssistantMessage,
  Message,
  TextPart,
  ToolCallPart,
  UserMessage,
  UserPart,
} from '../values/message.ts';
import * as messages from '../values/message.ts';
import type { Usage } from '../values/usage.ts';
import * as usages from '../values/usage.ts';
import { userContent } from './content.ts';

// What callers pass to these functions is read first. The functions with the same names do not read it, because they
// are called for every turn with values that were read already.

/** At most a million US dollars per million tokens, so that sums stay finite. */
const rate: Reader<number> = when(
  (value) => typeof value === 'number' && value >= 0 && value <= 1e6,
  'a price',
);

/** Reads a price. Amounts that are not numbers make it unknown, not free. */
export const readPrice: Reader<Price> = record<Price>(
  { input: rate, output: rate, cacheRead: rate, cacheWrite: rate, cacheWriteLong: rate, search: rate },
  ['input', 'output'],
);

/**
 * Returns the sum of two usages. A detail stays undefined only if neither reports it.
 * @throws AgentError `invalid` for a value that is not a usage.
 */
export function addUsage(left: Usage, right: Usage): Usage {
  return usages.addUsage(read(left, readUsage, 'left'), read(right, readUsage, 'right'));
}

/**
 * Returns the first usage without the second one. No count is below zero.
 * @throws AgentError `invalid` for a value that is not a usage.
 */
export function subtractUsage(whole: Usage, part: Usage): Usage {
  return usages.subtractUsage(read(whole, readUsage, 'whole'), read(part, readUsage, 'part'));
}

/**
 * Returns the cost of the given usage in US dollars.
 * @throws AgentError `invalid` for values that are not a usage and a price.
 */
export function costOf(usage: Usage, price: Price): number {
  return limits.costOf(read(usage, readUsage, 'usage'), read(price, readPrice, 'price'));
}

/** Reads a part only as far as {@link textOf} and {@link callsOf} use it. */
const readPart: Reader<TextPart | ToolCallPart> = (value) => {
  const part: TextPart | ToolCallPart = data(value);
  if (isObject(part) && (part.type !== 'text' || typeof part.text === 'string')) return part;
  throw invalid(value, 'Use a part of a message');
};

const readMessage = record({ content: listOf(readPart) }, ['content'], 'a message');

const readContent: Reader<string | readonly UserPart[]> = (value) =>
  typeof value === 'string' ? value : userContent(data(value));

/**
 * Creates a user message from plain text or parts.
 * @throws AgentError `invalid` for a value that is neither.
 */
export function userMessage(content: string | readonly UserPart[]): UserMessage {
  return messages.userMessage(read(content, readContent, 'content'));
}

/**
 * Returns the text parts of a message, joined without a separator.
 * @throws AgentError `invalid` for a value that is not a message.
 */
export function textOf(message: Message): string {
  return messages.textIn(read(message, readMessage, 'message').content);
}

/**
 * Returns the calls of a message in the order in which the model made them.
 * @throws AgentError `invalid` for a value that is not a message.
 */
export function callsOf(message: AssistantMessage): ToolCallPart[] {
  return messages.callsOf({ role: 'assistant', ...read(message, readMessage, 'message') });
}

/**
 * Returns the kind of a file from its media type, without parameters.
 * @throws AgentError `invalid` for a value that is not a string.
 */
export function fileKind(mediaType: string): FileKind {
  return files.fileKind(read(mediaType, text, 'mediaType'));
}

const readBytes = when<Uint8Array>((value) => value instanceof Uint8Array, 'a Uint8Array');
const readHead = (value: unknown) => readBytes(value).subarray(0, 16);

/**
 * Returns the media type of a file from its first 16 bytes, because file names are not trusted; undefined for text and
 * unknown types.
 * @throws AgentError `invalid` for a value that is not a `Uint8Array`.
 */
export function sniffMediaType(bytes: Uint8Array): string | undefined {
  return files.sniffMediaType(read(bytes, readHead, 'bytes'));
}
