import type { Event } from '../events/event.ts';
import { fold } from '../events/fold.ts';
import type { State } from '../events/state.ts';
import { emptyState } from '../events/state.ts';
import { AgentError } from '../values/errors.ts';
import type { Reader } from '../values/input.ts';
import { invalid, listOf, optional, read, text, when, withMethods } from '../values/input.ts';
import { isObject } from '../values/json.ts';
import { owned } from '../values/owned.ts';
import type { Store } from './store.ts';
import { storeFailure } from './store.ts';

/** Reads a store. */
export const readStore: Reader<Store> = withMethods('claim', 'append', 'read');

/** Number of events in memory at a time. */
const pageLength = 1000;

/**
 * Returns the state of a session: its snapshot, if the store has one, and the later events. An unknown session has an
 * empty state.
 * @throws AgentError `invalid`, code `bad_option`, for an invalid argument; the AgentError of the store, such as
 * `store_damaged`; `agent`, code `store`, if the store throws something else or returns no events.
 */
export async function openSession(store: Store, sessionId: string): Promise<State> {
  const from = read(store, readStore, 'store');
  const id = read(sessionId, text, 'sessionId');
  const snapshot = from.snapshot && (await attempt(() => from.snapshot?.(id)));
  const state = read(snapshot, optional(storedState), 'store.snapshot()', 'store') ?? emptyState();
  for (;;) {
    const events = await readEvents(from, id, state.seq, pageLength);
    for (const event of events) fold(state, event);
    if (events.length < pageLength) return state;
  }
}

/**
 * Reads events of a session.
 * @throws AgentError of the store; `agent`, code `store`, if the store throws something else or returns no events.
 */
export async function readEvents(
  store: Store,
  sessionId: string,
  afterSeq: number = 0,
  limit?: number,
): Promise<readonly Event[]> {
  const events = await attempt(() => store.read(sessionId, afterSeq, limit));
  let last = afterSeq;
  // A store that returned earlier events again would be read forever.
  const follows = (event: unknown): boolean => isObject(event) && event['seq'] === ++last;
  return read(events, listOf<Event>(when(follows, 'the event that follows')), 'store.read()', 'store');
}

async function attempt(call: () => unknown): Promise<unknown> {
  try {
    return await call();
  } catch (thrown) {
    throw AgentError.is(thrown) ? thrown : storeFailure(thrown);
  }
}

const storedState: Reader<State> = (value) => {
  const kind = (field: unknown) => (Array.isArray(field) ? 'array' : typeof field);
  const isWhole = ([name, field]: [string, unknown]) =>
    field === undefined || (isObject(value) && kind(value[name]) === kind(field));
  if (!Object.entries(emptyState()).every(isWhole)) throw invalid(value, 'Use the state of a session');
  const state = value as State;
  for (const message of state.messages) owned(message);
  return state;
};
