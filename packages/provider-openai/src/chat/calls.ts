import type { ResponseSink } from '@cobbler/agent/provider';
import type { Fields } from '../fields.ts';
import { isFields, textIn } from '../fields.ts';

interface StreamedToolCall {
  readonly key: string;
  readonly index: number | undefined;
  id: string;
  name: string;
  /** Arguments that arrived before the name. */
  held: string;
}

/**
 * Assembles the calls of one response from chunks. OpenAI includes the index in each chunk and the call's name in its
 * first chunk only. Other servers omit the index or the id, repeat id and name in every chunk, send each call in one
 * chunk, or use index 0 for every call.
 *
 * Invariant: a chunk belongs to the call of its index or id; one without both continues the last call.
 */
export class StreamedCalls {
  readonly #calls: StreamedToolCall[] = [];

  /** Number of started calls, including unnamed ones. */
  get size(): number {
    return this.#calls.length;
  }

  /** Processes one entry of `delta.tool_calls`. */
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

  /** Ends the calls. A call without a name is emitted without one, and then rejected. */
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

/** Returns the arguments as JSON text; some servers send them as an object. */
function inputOf(given: unknown): string {
  if (typeof given === 'string') return given;
  return isFields(given) ? JSON.stringify(given) : '';
}

function tellInput(call: StreamedToolCall, input: string, out: ResponseSink): void {
  if (input !== '') out.input(call.key, input);
}
