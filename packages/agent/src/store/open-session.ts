import { fold } from '../events/fold.ts';
import type { State } from '../events/state.ts';
import { emptyState } from '../events/state.ts';
import type { Store } from './store.ts';

/** How many events are in memory at a time. */
const pageLength = 1000;

/** The state of a session: its snapshot, where the store has one, and what came since. An unknown one is empty. */
export async function openSession(store: Store, sessionId: string): Promise<State> {
  const state = (await store.snapshot?.(sessionId)) ?? emptyState();
  for (;;) {
    const events = await store.read(sessionId, state.seq, pageLength);
    for (const event of events) fold(state, event);
    if (events.length < pageLength) return state;
  }
}
