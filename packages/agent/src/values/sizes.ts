/*
 * Sizes of what models, services, tools and callers pass in, and their maximums. docs/limits.md lists them with all other limits. A size
 * in bytes is estimated as one byte per character, or measured in UTF-8 where a text is truncated.
 */

import { maxItems } from './json.ts';

/** Bytes of a prompt, of the system text, or of the messages to a run that wait for its next turn. */
export const maxPromptBytes = 67_108_864;

/** Bytes of the declarations of all tools: about a million tokens, which fill the largest context windows. */
export const maxDeclarationBytes = 4_194_304;

/** Messages to a run that wait for its next turn, or prompts that wait for a run to end. */
export const maxWaiting = 1_000;

/** Bytes of the content of a response. */
export const maxAnswerBytes = 67_108_864;

/** Calls in one response, and therefore approval requests that wait at the same time in a run. */
export const maxCalls = 256;

/** Bytes of one call's arguments. */
export const maxArgumentBytes = 1_048_576;

/** Bytes of tool output sent to the model, and of any other long text that is stored with a call. */
export const maxOutputBytes = 262_144;

/** Bytes of one report of progress. */
export const maxProgressBytes = 16_384;

/** Recorded steps of one call. */
export const maxSteps = 500;

/** Bytes of a short text for users: a summary, a step, or the reason why a user must decide. */
export const maxNoteBytes = 1_000;

/** Characters of the message of an error. */
export const maxErrorLength = 16_384;

/** Estimates the bytes of plain data from its texts. */
export function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 8;
  // Names cost more to read than values, and those of an array most.
  const items: readonly unknown[] =
    Array.isArray(value) && value.length <= maxItems ? value : Object.values(value);
  let size = 16;
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index];
    // Most are texts and numbers, and a call costs more than looking at one.
    if (typeof item === 'string') size += item.length;
    else size += typeof item === 'object' && item !== null ? sizeOf(item) : 8;
  }
  return size;
}
