import type { ResponseSink } from '@cobbler/agent/provider';
import type { Fields } from '../fields.ts';
import { isFields, textIn } from '../fields.ts';

interface StreamedToolCall {
  readonly key: string;
  readonly index: number | undefined;
  id: string;
  name: string;
  /** Arguments that came before the name did. */
  held: string;
}

/**
 * The calls of one answer, put together from the pieces that servers send. OpenAI gives each piece its index
 * and names the call in its first piece only. Others leave out the index or the id, repeat id and name in every
 * piece, send each call whole, or give every call the index 0.
 *
 * Invariant: a piece belongs to the call it names by index or id; one that names neither continues the last.
 */
export class StreamedCalls {
  readonly #calls: StreamedToolCall[] = [];

  /** Number of started calls, including unnamed ones. */
  get size(): number {
    return this.#calls.length;
  }

  /** Takes one entry of `delta.tool_calls`. */
  add(piece: Fields, out: ResponseSink): void {
    const given = isFields(piece['function']) ? piece['function'] : {};
    const index = typeof piece['index'] === 'number' ? piece['index'] : undefined;
    const id = textIn(piece, 'id');
    const name = textIn(given, 'name');
    const call = this.#find(index, id, name) ?? this.#begin(index);
    if (call.id === '') call.id = id;
    if (call.name === '' && name !== '') {
      call.name = name;
      out.call(call.key, call.id, name);
      tellInput(call, call.held, out);
      call.held = '';
    }
    const input = inputOf(given['arguments']);
    if (call.name === '') call.held += input;
    else tellInput(call, input, out);
  }

  /** No more chunks will come. A call without a name is emitted without one, for the kit to reject. */
  end(out: ResponseSink): void {
    for (const call of this.#calls) {
      if (call.name !== '') continue;
      out.call(call.key, call.id, '');
      tellInput(call, call.held, out);
    }
    for (const call of this.#calls) out.close(call.key);
  }

  #find(index: number | undefined, id: string, name: string): StreamedToolCall | undefined {
    if (index === undefined && id === '' && name === '') return this.#calls.at(-1);
    if (index === undefined && id === '') return undefined;
    const found = this.#calls.findLast((call) =>
      index === undefined ? call.id === id : call.index === index,
    );
    if (found === undefined) return undefined;
    const another =
      (id !== '' && found.id !== '' && id !== found.id) ||
      (name !== '' && found.name !== '' && name !== found.name);
    return another ? undefined : found;
  }

  #begin(index: number | undefined): StreamedToolCall {
    const call: StreamedToolCall = { key: `call:${this.#calls.length}`, index, id: '', name: '', held: '' };
    this.#calls.push(call);
    return call;
  }
}

/** Some servers give the arguments as an object instead of its JSON. */
function inputOf(given: unknown): string {
  if (typeof given === 'string') return given;
  return isFields(given) ? JSON.stringify(given) : '';
}

function tellInput(call: StreamedToolCall, input: string, out: ResponseSink): void {
  if (input !== '') out.input(call.key, input);
}
