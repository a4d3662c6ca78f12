/**
 * Copies a session up to an event into a new one.
 *
 * @module
 */

import type { Event, EventBody } from '../events/event.ts';
import { fold } from '../events/fold.ts';
import { emptyState, openRequests } from '../events/state.ts';
import { defined } from '../values/defined.ts';
import { AgentError } from '../values/errors.ts';
import { count, read, record, text, withMethods } from '../values/input.ts';
import type { Runtime } from '../values/runtime.ts';
import { isoTime } from '../values/runtime.ts';
import { readEvents, readStore } from './open-session.ts';
import type { Store } from './store.ts';

/** The source and target of a fork. */
export interface Fork {
  readonly from: string;
  readonly to: string;
  /** The last shared event. Default: the last event of the source. */
  readonly upToSeq?: number;
  /** The user to whom the new session belongs. Default: the user of the source. */
  readonly user?: string;
}

/**
 * Creates a session with the events of another one. A run that is cut off ends as cancelled in the fork. Pending
 * approval requests are not copied, because one decision must not count twice.
 * @throws AgentError `invalid`, code `no_session` or `no_event`, if there are no events to copy.
 */
export async function forkSession(store: Store, fork: Fork, runtime: Pick<Runtime, 'now'>): Promise<void> {
  read(store, readStore, 'store');
  read(runtime, withMethods<Runtime>('now'), 'runtime');
  const { from, to, upToSeq, user } = read(fork, forkFields, 'fork');
  const all = await readEvents(store, from);
  if (all.length === 0) {
    throw notThere('no_session', `There is no session ${JSON.stringify(from)} in the store.`);
  }
  const last = upToSeq ?? all.at(-1)?.seq ?? 0;
  const events = all.filter(({ seq }) => seq <= last);
  if (events.at(-1)?.seq !== last) throw notThere('no_event', `Session ${from} has no event ${last}.`);
  const epoch = await store.claim(to, { parent: { sessionId: from, seq: last } });
  const inherited = events.map((event): Event => ({ ...event, inherited: true }));
  const copied = [...inherited, ...ending(events, isoTime(runtime.now()))];
  const renamed = copied.map((event) => ({ ...event, id: `${to}-${event.seq}`, ...defined({ user }) }));
  await store.append(to, renamed, { epoch, release: true });
}

const forkFields = record<Fork>({ from: text, to: text, upToSeq: count, user: text }, ['from', 'to']);

/** Returns the events that end the copied part: the run is not continued, and pending approval requests are superseded. */
function ending(events: readonly Event[], time: string): Event[] {
  const state = emptyState();
  for (const event of events) fold(state, event);
  const asked = openRequests(state);
  if (state.finished !== undefined && asked.length === 0) return [];
  const bodies: EventBody[] = [
    ...asked.map(({ approvalId }): EventBody => {
      return { type: 'approval_decided', approvalId, decision: 'superseded', waitedMs: 0 };
    }),
    { type: 'finished', status: 'cancelled', metrics: state.metrics },
  ];
  return bodies.map((body, index) => {
    return { v: 1, seq: state.seq + index + 1, id: '', time, runId: state.runId, ...body };
  });
}

function notThere(code: string, message: string): AgentError {
  return new AgentError({ kind: 'invalid', code, message });
}
