import type { ToolCall } from '../../interfaces/agent.ts';
import type { AssistantPart, Seal } from '../../values/message.ts';
import { wellFormedText } from '../../values/unicode.ts';
import { parseArguments } from './arguments.ts';

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
export function partOf({ kind, text, seal }: ResponseBlock, call?: ToolCall): AssistantPart | undefined {
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
  return Object.freeze(kind === 'reasoning' ? { type: 'reasoning', text, seal } : { type: 'opaque', seal });
}

/** Returns whether a block is a seal that arrived before its block of this kind. */
export function awaitsKind({ kind: own, closed, mustClose }: ResponseBlock, kind: BlockKind): boolean {
  return own === 'opaque' && !closed && !mustClose && kind !== 'text';
}
