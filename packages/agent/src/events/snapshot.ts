import { isObject, parsedJson } from '../values/json.ts';
import type { Message } from '../values/message.ts';
import type { State } from './state.ts';
import { emptyState } from './state.ts';

/**
 * Version of the states that `fold` computes. A snapshot with a different version is not used; its events are folded
 * again. Increase it whenever a log folds to a different state than before. A test detects when that happens.
 */
export const foldVersion = 4;

/**
 * Returns a state as text, without its messages, which are stored separately because they never change and only grow
 * in number.
 */
export function snapshotText(state: State): string {
  return JSON.stringify({ ...state, messages: undefined });
}

/** Returns the state of a snapshot, or undefined if the text is not a snapshot. */
export function snapshotState(text: string, messages: Message[]): State | undefined {
  const fields = parsedJson(text);
  if (!isObject(fields) || !Number.isInteger(fields['seq']) || !Array.isArray(fields['calls']))
    return undefined;
  return { ...emptyState(), ...fields, messages };
}
