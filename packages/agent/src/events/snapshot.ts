import { isObject } from '../values/json.ts';
import type { Message } from '../values/message.ts';
import type { State } from './state.ts';
import { emptyState } from './state.ts';

/**
 * Version of what `fold` makes of events. A snapshot of another version is not used: the events are folded
 * again. To be raised whenever a log folds to another state than before; a test knows when that is.
 */
export const foldVersion = 3;

/** A state without its messages, as text: they are kept apart, because they never change and only become more. */
export function snapshotText(state: State): string {
  return JSON.stringify({ ...state, messages: undefined });
}

/** The state of a snapshot; nothing when the text is none. */
export function snapshotState(text: string, messages: Message[]): State | undefined {
  const fields: unknown = parsed(text);
  if (!isObject(fields) || !Number.isInteger(fields['seq']) || !Array.isArray(fields['calls']))
    return undefined;
  return { ...emptyState(), ...fields, messages };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
