import type { ToolCall } from '../../interfaces/agent.ts';
import type { AssistantPart, Seal } from '../../values/message.ts';
import { wellFormedText } from '../../values/unicode.ts';
import { parseArguments } from './arguments.ts';

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
  seal: Seal | undefined;
  /** Id and name of a call from the service. */
  id = '';
  name = '';
  /** True if the service announces the ends of its blocks. */
  mustClose = false;
  /** True if the id and the name of a call have arrived. */
  isCalled = false;
  /** The call, once the block is closed. */
  call: ToolCall | undefined;

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

  /**
   * Returns the call for the executor, frozen. The arguments are parsed only here. They stay readable even if there is
   * a problem, an external reason why the call must not run.
   * @param id unique within the response.
   */
  readCall(id: string, problem: string | undefined): ToolCall {
    const read = parseArguments(this.text);
    const call = {
      id: wellFormedText(id),
      toolName: wellFormedText(this.name) || unnamedTool,
      arguments: read.arguments,
    };
    const why = read.problem ?? (this.name === '' ? 'The call names no tool.' : problem);
    this.call = Object.freeze(why === undefined ? call : { ...call, problem: wellFormedText(why) });
    return this.call;
  }

  /** Returns the call of a complete response, with an external reason why it must not run. */
  callUnless(problem: string | undefined): ToolCall | undefined {
    const { call } = this;
    if (call === undefined || problem === undefined || call.problem !== undefined) return call;
    return Object.freeze({ ...call, problem });
  }

  /** Returns the block as a frozen message part, or undefined if it is empty. */
  part(call: ToolCall | undefined): AssistantPart | undefined {
    const { text, seal } = this;
    if (call !== undefined) return partOf(call, seal);
    if (this.kind === 'text') return text === '' ? undefined : Object.freeze({ type: 'text', text });
    if (this.kind === 'reasoning' && seal === undefined)
      return text === '' ? undefined : Object.freeze({ type: 'reasoning', text });
    if (seal === undefined) return undefined;
    return Object.freeze(
      this.kind === 'reasoning' ? { type: 'reasoning', text, seal } : { type: 'opaque', seal },
    );
  }
}

function partOf(call: ToolCall, seal: Seal | undefined): AssistantPart {
  const { id, toolName, problem } = call;
  const part = { type: 'tool_call' as const, id, toolName, arguments: call.arguments };
  if (problem === undefined && seal === undefined) return Object.freeze(part);
  return Object.freeze({
    ...part,
    ...(problem !== undefined && { problem }),
    ...(seal !== undefined && { seal }),
  });
}
