import { fold } from '../events/fold.ts';
import type { State } from '../events/state.ts';
import { emptyState } from '../events/state.ts';
import type { Store } from './store.ts';

/** Number of events in memory at a time. */
const pageLength = 1000;

/**
 * Returns the state of a session: its snapshot, if the store has one, and the later events. An unknown session has an
 * empty state.
 */
export async function openSession(store: Store, sessionId: string): Promise<State> {
  const state = (await store.snapshot?.(sessionId)) ?? emptyState();
  for (;;) {
    const events = await store.read(sessionId, state.seq, pageLength);
    for (const event of events) fold(state, event);
    if (events.length < pageLength) return state;
  }
}
