import type { ToolCallPart, ToolResultMessage } from '../values/message.ts';

/** The calls of one turn and their results, in the order of the calls. */
export interface Batch {
  readonly calls: readonly ToolCallPart[];
  readonly results: readonly ToolResultMessage[];
}

/** Returns whether two turns made equal calls with equal results. Text, call ids and the order of keys do not count. */
export function sameBatch({ calls, results }: Batch, other: Batch): boolean {
  if (calls.length !== other.calls.length || results.length !== other.results.length) return false;
  for (const [at, call] of calls.entries()) {
    const { toolName, arguments: args } = other.calls[at] ?? call;
    if (call.toolName !== toolName || !sameJson(call.arguments, args)) return false;
  }
  for (const [at, result] of results.entries()) {
    const { isError, content } = other.results[at] ?? result;
    if (result.isError !== isError || !sameJson(result.content, content)) return false;
  }
  return true;
}

/** Values nested more deeply count as different, so that the recursion cannot overflow the stack. */
const maxDepth = 200;

type Fields = Readonly<Record<string, unknown>>;

/** Returns whether two JSON values are equal, regardless of the order of their keys. */
export function sameJson(one: unknown, other: unknown, depth = 0): boolean {
  if (one === other) return true;
  if (!one || !other || typeof one !== 'object' || typeof other !== 'object' || depth > maxDepth)
    return false;
  const keys = Object.keys(one);
  if (Array.isArray(one) !== Array.isArray(other) || keys.length !== Object.keys(other).length) return false;
  for (const key of keys)
    if (!Object.hasOwn(other, key) || !sameJson((one as Fields)[key], (other as Fields)[key], depth + 1))
      return false;
  return true;
}
