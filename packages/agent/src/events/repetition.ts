import { isObject } from '../values/json.ts';
import type { ToolCallPart, ToolResultMessage } from '../values/message.ts';

/** The calls of one turn and what came of them, in the order of the calls. */
export interface Batch {
  readonly calls: readonly ToolCallPart[];
  readonly results: readonly ToolResultMessage[];
}

/**
 * Whether two turns made the same calls with the same arguments and got the same results. What was said
 * beside the calls and the ids of the calls do not count, nor does the order of the keys in arguments.
 */
export function sameBatch(one: Batch, other: Batch): boolean {
  return (
    one.calls.length === other.calls.length &&
    one.calls.every((call, index) => sameCall(call, other.calls[index])) &&
    one.results.every((result, index) => sameResult(result, other.results[index]))
  );
}

function sameCall(one: ToolCallPart, other: ToolCallPart | undefined): boolean {
  return one.toolName === other?.toolName && sameJson(one.arguments, other.arguments);
}

function sameResult(one: ToolResultMessage, other: ToolResultMessage | undefined): boolean {
  return one.isError === other?.isError && sameJson(one.content, other?.content);
}

/** Values nested deeper than this count as different: no recursion may overflow the stack. */
const maxDepth = 200;

/** Whether two JSON values are equal, whatever the order of their keys. */
export function sameJson(one: unknown, other: unknown, depth = 0): boolean {
  if (one === other) return true;
  if (depth > maxDepth) return false;
  if (Array.isArray(one)) {
    if (!Array.isArray(other) || one.length !== other.length) return false;
    return one.every((item, index) => sameJson(item, other[index], depth + 1));
  }
  if (!isObject(one) || !isObject(other)) return false;
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every((key) => Object.hasOwn(other, key) && sameJson(one[key], other[key], depth + 1));
}
