import type { ToolCall } from '../../interfaces/agent.ts';
import { assertNever } from '../../values/assert-never.ts';
import { defined } from '../../values/defined.ts';
import { summarize } from '../../values/errors.ts';
import type { Json } from '../../values/json.ts';
import { isObject } from '../../values/json.ts';
import type { AssistantPart } from '../../values/message.ts';
import { wellFormedJson, wellFormedText } from '../../values/unicode.ts';

export type BlockKind = 'text' | 'reasoning' | 'call' | 'opaque';

/** Placeholder name for a call without a tool name, because services require one. */
const unnamedTool = 'unnamed';

/** One block of a response while it streams. */
export class ResponseBlock {
  /** Index among the blocks of the response, in order of first mention. */
  readonly index: number;
  kind: BlockKind;
  /** Text, reasoning, or the JSON of a call's arguments. */
  text = '';
  closed = false;
  seal: { readonly data: Json } | undefined;
  /** Id of a call from the service, unique within the response once the block is closed. */
  id = '';
  name = '';
  /** True if the service announces the ends of its blocks. */
  mustClose = false;
  /** True if the id and the name of a call have arrived. */
  isCalled = false;
  #arguments: CallArguments | undefined;

  constructor(index: number, kind: BlockKind) {
    this.index = index;
    this.kind = kind;
  }

  /** True if the start or the end of the block is missing. */
  get isTorn(): boolean {
    return (this.mustClose && !this.closed) || (this.kind === 'call' && !this.isCalled);
  }

  /** True for a seal that arrived before its block of this kind. */
  awaitsKind(kind: BlockKind): boolean {
    return this.kind === 'opaque' && !this.closed && !this.mustClose && kind !== 'text';
  }

  /** Appends to the arguments. Beyond the limit it is enough to know that they are too long; the rest is never read. */
  addInput(fragment: string): void {
    if (this.text.length <= maxArgumentBytes) this.text += fragment;
  }

  /** Closes the block; nothing is added after this. The arguments are parsed only here. */
  close(): void {
    this.closed = true;
    if (this.kind === 'call') this.#arguments = parseArguments(this.text);
    else this.text = wellFormedText(this.text);
  }

  /** Returns the call for the executor; `problem` is an external reason why it must not run. */
  call(problem?: string): ToolCall {
    const read = this.#arguments ?? parseArguments(this.text);
    const unnamed = this.name === '' ? 'The call names no tool.' : undefined;
    return {
      id: this.id,
      toolName: this.name || unnamedTool,
      // The arguments stay readable even if the call must not run.
      arguments: read.arguments,
      ...defined({ problem: read.problem ?? unnamed ?? problem }),
    };
  }

  /** Returns the block as a message part, or undefined if it is empty. */
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

/** Maximum size of one call's arguments in bytes: 1 MiB. */
const maxArgumentBytes: number = 1024 * 1024;

/** Maximum nesting depth of one call's arguments. */
const maxArgumentDepth = 64;

/** Valid arguments, or empty ones and the reason, as text for the model. */
interface CallArguments {
  readonly arguments: Record<string, unknown>;
  readonly problem?: string;
}

/**
 * Parses the JSON of a call's arguments. Invalid JSON is never repaired: a guessed argument is worse than none. Empty
 * text means no arguments.
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
  // After decoding from UTF-8, only an escape sequence can contain a lone surrogate.
  const suspicious = !text.isWellFormed() || /\\u[dD]/.test(text);
  return { arguments: suspicious ? (wellFormedJson(value) as Record<string, unknown>) : value };
}

/** Returns empty arguments with the problem. */
function unusable(problem: string): CallArguments {
  return { arguments: {}, problem };
}

function isTooLarge(text: string): boolean {
  if (text.length > maxArgumentBytes) return true;
  // A UTF-16 code unit takes at most three bytes, so most strings can be checked without encoding them.
  return text.length * 3 > maxArgumentBytes && new TextEncoder().encode(text).length > maxArgumentBytes;
}

/** Searches level by level instead of recursively, so that deep nesting cannot overflow the stack. */
function flawOf(root: object): string | undefined {
  let level: object[] = [root];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > maxArgumentDepth) return `The arguments are nested deeper than ${maxArgumentDepth} levels.`;
    const below: object[] = [];
    for (const value of level) {
      if (Object.hasOwn(value, '__proto__')) return 'The arguments contain the forbidden key "__proto__".';
      for (const item of Object.values(value)) {
        if (typeof item === 'object' && item !== null) below.push(item);
        // JSON cannot express infinity, but a number that is too large becomes it and would be serialized as null.
        else if (Math.abs(item) === Number.POSITIVE_INFINITY)
          return 'The arguments contain a number that is too large.';
      }
    }
    level = below;
  }
  return undefined;
}
