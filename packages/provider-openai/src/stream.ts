import type { ResponseSink } from '@cobbler/agent/provider';
import { errorObject, streamFault } from './fault.ts';
import type { Fields } from './fields.ts';
import { isObject } from './fields.ts';

/** Returns the state of each response by its sink, so that a wire itself has no state. */
export function stateOf<State>(create: () => State): (out: ResponseSink) => State {
  const states = new WeakMap<ResponseSink, State>();
  return (out) => {
    const state = states.get(out) ?? create();
    states.set(out, state);
    return state;
  };
}

/** Returns a payload of either API as an object; undefined for an end marker and for anything else. */
export function readPayload(payload: unknown, out: ResponseSink): Fields | undefined {
  if (isObject(payload)) return payload;
  // Some servers end the stream of either API with this marker.
  if (payload === '[DONE]') out.ignore(payload);
  else if (typeof payload === 'string')
    out.fail({ kind: 'broken', message: 'The stream contained a line that is not JSON.' });
  return undefined;
}

/** Reports an error that the service sent inside the stream. */
export function failWith(error: unknown, out: ResponseSink): void {
  out.fail(streamFault(errorObject(error)));
}

/** Reports a response that cannot be trusted. */
export function broken(out: ResponseSink, why: string): void {
  out.fail({ kind: 'broken', message: `The response cannot be parsed: ${why}.` });
}

/** Maximum number of UTF-16 code units of arguments that are compared: 1 Mi. Longer ones are rejected elsewhere. */
const maxArguments = 1024 * 1024;

/** Adds a chunk to the arguments that are compared. */
export function addArguments(streamed: string, chunk: string): string {
  return streamed.length <= maxArguments ? streamed + chunk : streamed;
}

/** Returns whether the complete arguments are the streamed ones, or the same JSON written in different ways. */
export function areSameArguments(whole: string, streamed: string): boolean {
  return streamed.length > maxArguments || whole === streamed || compact(whole) === compact(streamed);
}

/** Returns the arguments as JSON text; some servers send them as an object. */
export function inputOf(given: unknown, out: ResponseSink): string {
  if (typeof given === 'string') return given;
  if (typeof given === 'number' || typeof given === 'boolean') out.ignore('arguments that are not text');
  return given === undefined || given === null ? '' : JSON.stringify(given);
}

function compact(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}
