import type { ToolCall } from '../../interfaces/agent.ts';
import { defined } from '../../values/defined.ts';
import type { Json } from '../../values/json.ts';
import type { AssistantPart } from '../../values/message.ts';
import { wellFormedText } from '../../values/unicode.ts';
import type { CallArguments } from './call-arguments.ts';
import { maxArgumentBytes, parseArguments } from './call-arguments.ts';

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

  /** Adds to the arguments. Beyond the limit only the fact is kept: nobody will read the rest. */
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
    }
  }
}
