import type { ModelResponse } from './agent.ts';

const known = new WeakSet<object>();

/** Remembers a response that needs no reading: it is frozen with everything in it, and the log can store it. */
export function ownResponse(response: ModelResponse): ModelResponse {
  known.add(response);
  return response;
}

/** Returns whether a value is a response that {@link ownResponse} was given. A copy of one must be read. */
export function isOwnResponse(value: unknown): value is ModelResponse {
  return known.has(value as object);
}
