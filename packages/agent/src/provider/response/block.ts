import type { ToolCall } from '../../interfaces/agent.ts';
import { summarize } from '../../values/errors.ts';
import { isObject } from '../../values/json.ts';
import type { AssistantPart, Seal } from '../../values/message.ts';
import { maxArgumentBytes } from '../../values/sizes.ts';
import { wellFormedJson, wellFormedText } from '../../values/unicode.ts';
import type { Shown } from '../wire/wire.ts';

export type BlockKind = 'text' | 'reasoning' | 'call' | 'opaque';

/** Placeholder name for a call without a tool name, because services require one. */
const unnamedTool = 'unnamed';

/** One block of a response while it streams. */
export interface ResponseBlock {
  /** Index among the blocks of the response, in order of first mention. */
  readonly index: number;
  kind: BlockKind;
  /** Text, reasoning, or the JSON of a call's arguments. */
  text: string;
  closed: boolean;
  seal: Seal | undefined;
  shown: Shown | undefined;
  /** Id and name of a call from the service. */
  id: string;
  name: string;
  /** True if the service announces the ends of its blocks. */
  mustClose: boolean;
  /** True if the id and the name of a call have arrived. */
  isCalled: boolean;
  /** The call, once the block is closed. */
  call: ToolCall | undefined;
}

/**
 * Returns the call of a block for the executor, frozen. The arguments are parsed only here. They stay readable even if
 * there is a problem, an external reason why the call must not run.
 * @param id unique within the response.
 */
export function readCall({ text, name }: ResponseBlock, id: string, problem: string | undefined): ToolCall {
  const read = parseArguments(text);
  const call = {
    id: wellFormedText(id),
    toolName: wellFormedText(name) || unnamedTool,
    arguments: read.arguments,
  };
  const why = read.problem ?? (name === '' ? 'The call names no tool.' : problem);
  return Object.freeze(why === undefined ? call : { ...call, problem: wellFormedText(why) });
}

/** Returns a block that is not a text as a frozen message part, or undefined if it is empty. */
export function partOf(
  { kind, text, seal, shown }: ResponseBlock,
  call?: ToolCall,
): AssistantPart | undefined {
  if (call !== undefined) {
    const { id, toolName, problem } = call;
    const part = { type: 'tool_call' as const, id, toolName, arguments: call.arguments };
    if (problem === undefined && seal === undefined) return Object.freeze(part);
    return Object.freeze({
      ...part,
      ...(problem !== undefined && { problem }),
      ...(seal !== undefined && { seal }),
    });
  }
  if (kind === 'reasoning' && seal === undefined)
    return text === '' ? undefined : Object.freeze({ type: 'reasoning', text });
  if (seal === undefined) return undefined;
  return Object.freeze(
    kind === 'reasoning' ? { type: 'reasoning', text, seal } : { type: 'opaque', seal, ...shown },
  );
}

/** Returns whether a block is a seal that arrived before its block of this kind. */
export function awaitsKind({ kind: own, closed, mustClose }: ResponseBlock, kind: BlockKind): boolean {
  return own === 'opaque' && !closed && !mustClose && kind !== 'text';
}

/** Maximum nesting depth of one call's arguments. */
const maxArgumentDepth = 64;

/** Frozen arguments, or empty ones and the reason, as text for the model. */
interface CallArguments {
  readonly arguments: Record<string, unknown>;
  readonly problem?: string;
}

/** Parses the JSON of a call's arguments; empty: none. Never repairs it: a guessed argument is worse than none. */
function parseArguments(text: string): CallArguments {
  // A UTF-16 code unit takes at most three bytes, so most strings can be checked without encoding them.
  if (text.length * 3 > maxArgumentBytes && isTooLarge(text))
    return unusable('The arguments are larger than 1 MiB. Send less in one call.');
  if (text.trim() === '') return { arguments: Object.freeze({}) };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return unusable(`The arguments are not valid JSON: ${summarize(error).message}`);
  }
  if (!isObject(value)) return unusable('The arguments are not a JSON object.');
  // After decoding from UTF-8, only an escape sequence can contain a lone surrogate.
  const isSuspicious = !text.isWellFormed() || (text.includes('\\u') && /\\u[dD]/.test(text));
  const given = isSuspicious ? (wellFormedJson(value) as Record<string, unknown>) : value;
  const flaw = settle(given, 1);
  return flaw === undefined ? { arguments: given } : unusable(flaw);
}

/** Returns empty arguments with the problem. */
function unusable(problem: string): CallArguments {
  return { arguments: Object.freeze({}), problem };
}

function isTooLarge(text: string): boolean {
  return text.length > maxArgumentBytes || new TextEncoder().encode(text).length > maxArgumentBytes;
}

/** Freezes parsed JSON with everything in it, or returns why it cannot be used. Recurses no deeper than the limit. */
function settle(value: Record<string | number, unknown>, depth: number): string | undefined {
  if (depth > maxArgumentDepth) return `The arguments are nested deeper than ${maxArgumentDepth} levels.`;
  if (Object.hasOwn(value, '__proto__')) return 'The arguments contain the forbidden key "__proto__".';
  for (const name of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    const item = value[name];
    if (typeof item === 'object' && item !== null) {
      const flaw = settle(item as Record<string, unknown>, depth + 1);
      if (flaw !== undefined) return flaw;
    } else if (typeof item === 'number') {
      // JSON cannot express infinity, but a number that is too large becomes it and would be serialized as null.
      if (Math.abs(item) === Number.POSITIVE_INFINITY)
        return 'The arguments contain a number that is too large.';
      // JSON has no negative zero.
      if (item === 0) value[name] = 0;
    }
  }
  Object.freeze(value);
  return undefined;
}
