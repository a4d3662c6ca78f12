import type { Json, JsonObject } from '@cobbler/agent';
import type { ResponseSink } from '@cobbler/agent/provider';
import { dropUnread } from '@cobbler/agent/provider';
import type { Fields } from '../fields.ts';
import { fieldsOf, isGiven, isObject, textFrom, textIn } from '../fields.ts';
import { addArguments, areSameArguments, inputOf } from '../stream.ts';

interface StreamedToolCall {
  readonly key: string;
  readonly index: number | undefined;
  id: string;
  name: string;
  /** Arguments that arrived before the name. */
  held: string;
  /** All arguments so far. */
  input: string;
  /** Data that the server expects back with the call, such as Gemini's `google.thought_signature`. */
  extra: Readonly<Record<string, Json>>;
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
  add(chunk: Fields, out: ResponseSink): void {
    const given = fieldsOf(chunk['function']);
    const type = textIn(chunk, 'type');
    if (type !== '' && type !== 'function') out.ignore(`a call of type ${type}`);
    if (isGiven(chunk['function']) && !isObject(chunk['function']))
      out.ignore('a function that is not an object');
    const extra = chunk['extra_content'];
    const read = ['index', 'id', 'type', 'function'];
    dropUnread('tool_call', chunk, isObject(extra) ? [...read, 'extra_content'] : read, out);
    dropUnread('function', given, ['name', 'arguments'], out);
    const index = typeof chunk['index'] === 'number' ? chunk['index'] : undefined;
    const id = textFrom(chunk, 'id', out);
    const name = textFrom(given, 'name', out);
    const call = this.#find(index, id, name) ?? this.#begin(index, out);
    if (call.id === '') call.id = id;
    if (call.name === '' && name !== '') {
      call.name = name;
      out.call(call.key, call.id, name);
      emitInput(call, call.held, out);
      call.held = '';
    }
    if (isObject(extra)) {
      call.extra = { ...call.extra, ...(extra as JsonObject) };
      out.seal(call.key, { extra_content: call.extra });
    }
    // Some servers send no arguments for a tool without parameters. A tool that requires some rejects such a call.
    const input = inputOf(given['arguments'], out);
    call.input = addArguments(call.input, input);
    if (call.name === '') call.held += input;
    else emitInput(call, input, out);
  }

  /** Returns whether these complete calls are the streamed ones. */
  equals(calls: readonly Fields[], out: ResponseSink): boolean {
    return (
      calls.length === this.#calls.length &&
      this.#calls.every(({ name, input }, at) => {
        const given = calls[at]?.['function'];
        return (
          !isObject(given) ||
          (textIn(given, 'name') === name && areSameArguments(inputOf(given['arguments'], out), input))
        );
      })
    );
  }

  /** Ends the calls. One without a name is rejected later. One without id and name lost its first chunk: invalid. */
  end(out: ResponseSink): void {
    for (const call of this.#calls) {
      if (call.name !== '') continue;
      if (call.id === '') out.ignore('a call without an id or a name');
      out.call(call.key, call.id, '');
      emitInput(call, call.held, out);
    }
    for (const call of this.#calls) out.close(call.key);
  }

  #find(index: number | undefined, id: string, name: string): StreamedToolCall | undefined {
    if (index === undefined && id === '' && name === '') return this.#calls.at(-1);
    if (index === undefined && id === '') return undefined;
    const found = this.#calls.findLast((call) =>
      index === undefined ? call.id === id : call.index === index,
    );
    return found !== undefined && agree(id, found.id) && agree(name, found.name) ? found : undefined;
  }

  #begin(index: number | undefined, out: ResponseSink): StreamedToolCall {
    if (this.#calls.some((call) => (call.index ?? -1) > (index ?? Number.POSITIVE_INFINITY)))
      out.ignore('calls out of order');
    const call: StreamedToolCall = {
      key: `call:${this.#calls.length}`,
      index,
      id: '',
      name: '',
      held: '',
      input: '',
      extra: {},
    };
    this.#calls.push(call);
    return call;
  }
}

/** Returns true unless both are given and differ. */
function agree(one: string, other: string): boolean {
  return one === '' || other === '' || one === other;
}

function emitInput(call: StreamedToolCall, input: string, out: ResponseSink): void {
  if (input !== '') out.input(call.key, input);
}
