import type { ToolCall } from '../../interfaces/agent.ts';
import { assertNever } from '../../values/assert-never.ts';
import { defined } from '../../values/defined.ts';
import { summarize } from '../../values/errors.ts';
import type { Json } from '../../values/json.ts';
import { isObject } from '../../values/json.ts';
import type { AssistantPart } from '../../values/message.ts';
import { wellFormedJson, wellFormedText } from '../../values/unicode.ts';

export type BlockKind = 'text' | 'reasoning' | 'call' | 'opaque';

/** A call that the model named no tool for still needs a name that every service takes back. */
const unnamedTool = 'unnamed';

/** One block of an answer while it streams. */
export class ResponseBlock {
  /** Place among the blocks of the answer, by first mention. */
  readonly index: number;
  kind: BlockKind;
  /** Text, reasoning, or the JSON text of a call's arguments. */
  text = '';
  closed = false;
  seal: { readonly data: Json } | undefined;
  /** Of a call: the service's id, unique within the answer once the block is closed. */
  id = '';
  name = '';
  /** Of a call: why it must not run, as far as it is not the arguments' fault. */
  problem: string | undefined;
  #arguments: CallArguments | undefined;

  constructor(index: number, kind: BlockKind) {
    this.index = index;
    this.kind = kind;
  }

  /** Adds to the arguments. Beyond the limit only the fact is kept: the rest is never read. */
  addInput(fragment: string): void {
    if (this.text.length <= maxArgumentBytes) this.text += fragment;
  }

  /** Nothing is added after this; the arguments are parsed here and only here. */
  close(): void {
    this.closed = true;
    if (this.kind === 'call') this.#arguments = parseArguments(this.text);
    else this.text = wellFormedText(this.text);
  }

  /** The call as the executor sees it; `problem` says why it must not run, for a reason outside of it. */
  call(problem?: string): ToolCall {
    const read = this.#arguments ?? parseArguments(this.text);
    const unnamed = this.name === '' ? 'The call names no tool.' : undefined;
    const reason = this.problem ?? read.problem ?? unnamed ?? problem;
    return {
      id: this.id,
      toolName: this.name === '' ? unnamedTool : this.name,
      // What a call would have done stays readable even when it may not do it.
      arguments: read.arguments,
      ...defined({ problem: reason }),
    };
  }

  /** The block as part of a message, or nothing when it is empty. */
  part(provider: string, problem?: string): AssistantPart | undefined {
    const seal = this.seal === undefined ? undefined : { provider, data: this.seal.data };
    switch (this.kind) {
      case 'text':
        return this.text === '' ? undefined : { type: 'text', text: this.text };
      case 'reasoning':
        if (this.text === '' && seal === undefined) return undefined;
        return { type: 'reasoning', text: this.text, ...defined({ seal }) };
      case 'opaque':
        return seal === undefined ? undefined : { type: 'opaque', seal };
      case 'call':
        return { type: 'tool_call', ...this.call(problem), ...defined({ seal }) };
      default:
        return assertNever(this.kind);
    }
  }
}

/** Most bytes of one call's arguments: 1 MiB. */
const maxArgumentBytes: number = 1024 * 1024;

/** Deepest nesting of one call's arguments. */
const maxArgumentDepth = 64;

/** Usable arguments, or none and the reason in words for the model. */
interface CallArguments {
  readonly arguments: Record<string, unknown>;
  readonly problem?: string;
}

/**
 * Reads the JSON text of a call's arguments. Text that is broken in any way is never mended: a guessed
 * argument is worse than none. Empty text means no arguments.
 */
function parseArguments(text: string): CallArguments {
  if (isTooLarge(text)) return unusable('The arguments are larger than 1 MiB. Send less in one call.');
  if (text.trim() === '') return { arguments: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return unusable(`The arguments are not valid JSON: ${summarize(error).message}`);
  }
  if (!isObject(value)) return unusable('The arguments are not a JSON object.');
  const flaw = flawOf(value);
  if (flaw !== undefined) return unusable(flaw);
  // Only an escape can bring half a surrogate pair into text that was decoded from UTF-8.
  const suspicious = !text.isWellFormed() || /\\u[dD]/.test(text);
  return { arguments: suspicious ? (wellFormedJson(value) as Record<string, unknown>) : value };
}

/** Arguments that must not be used. */
function unusable(problem: string): CallArguments {
  return { arguments: {}, problem };
}

function isTooLarge(text: string): boolean {
  if (text.length > maxArgumentBytes) return true;
  // A UTF-16 unit takes at most three bytes, so most texts need not be encoded to be measured.
  return text.length * 3 > maxArgumentBytes && new TextEncoder().encode(text).length > maxArgumentBytes;
}

/** Walks with a list of its own instead of recursion, so that no nesting can overflow the stack. */
function flawOf(root: object): string | undefined {
  let level: object[] = [root];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > maxArgumentDepth) return `The arguments are nested deeper than ${maxArgumentDepth} levels.`;
    const below: object[] = [];
    for (const value of level) {
      if (Object.hasOwn(value, '__proto__')) return 'The arguments contain the forbidden key "__proto__".';
      for (const item of Object.values(value)) {
        if (typeof item === 'object' && item !== null) below.push(item);
        // JSON has no such number, but what is too large for one becomes it, and would be sent on as null.
        else if (item === Number.POSITIVE_INFINITY || item === Number.NEGATIVE_INFINITY)
          return 'The arguments contain a number that is too large.';
      }
    }
    level = below;
  }
  return undefined;
}
