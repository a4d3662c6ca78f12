import type { Event, SessionStore } from '@cobbler/agent';
import type { EventBody, State } from '@cobbler/agent/events';
import { emptyState, fold } from '@cobbler/agent/events';
import {
  answered,
  ended,
  eventsOf,
  expect,
  expectEqual,
  said,
  wholeRun,
  worked,
  write,
} from '@cobbler/agent/testing';
import type { StoreCase, StoreSetup } from './case.ts';
import { group, reopening } from './case.ts';

const the = group('snapshots');
const afterReopening = reopening('snapshots');

/**
 * A long session with everything that a snapshot must preserve: open calls, compactions, steering, several
 * runs.
 */
function longSession(): EventBody[] {
  const bodies: EventBody[] = [];
  for (let run = 0; run < 6; run += 1) {
    bodies.push(said(`Run ${run}.`));
    for (let turn = 0; turn < 40; turn += 1) {
      bodies.push(...worked(run * 41 + turn + 1));
      if (turn === 20) bodies.push({ ...said('By the way.'), steer: true } as EventBody);
      if (turn === 30 && run % 2 === 1)
        bodies.push({ type: 'compacted', upTo: 17 + run, summary: `Until run ${run}.` });
    }
    bodies.push(answered('Done.', { usd: 0.1 }), ended());
  }
  return bodies;
}

/** Appends events as a log does: each append is folded, and the state is offered as a snapshot. */
class FoldingWriter {
  readonly #store: SessionStore;
  readonly #epoch: number;
  state: State = emptyState();

  constructor(store: SessionStore, epoch: number) {
    this.#store = store;
    this.#epoch = epoch;
  }

  async append(events: readonly Event[]): Promise<void> {
    await this.#store.append('one', events, { epoch: this.#epoch });
    for (const event of events) fold(this.state, event);
    this.#store.keepSnapshot?.('one', this.state, { epoch: this.#epoch });
  }
}

/** Returns the state of an opened session and the number of events folded for it. */
async function openState(store: SessionStore): Promise<{ state: State; folded: number }> {
  const state = (await store.snapshot?.('one')) ?? emptyState();
  const rest = await store.read('one', state.seq);
  for (const event of rest) fold(state, event);
  return { state, folded: rest.length };
}

function foldedWhole(events: readonly Event[]): State {
  const state = emptyState();
  for (const event of events) fold(state, event);
  return state;
}

async function checkOpening({ store }: StoreSetup, when: string): Promise<number> {
  const { state, folded } = await openState(store);
  expectEqual(state, foldedWhole(await store.read('one')), `the state ${when}`);
  return folded;
}

export const snapshotCases: readonly StoreCase[] = [
  the('a snapshot and the events after it give the same state as all events', async (setup) => {
    const writer = new FoldingWriter(setup.store, await setup.store.claim('one'));
    const events = eventsOf('one', longSession());
    for (let at = 0; at < events.length; at += 3) {
      await writer.append(events.slice(at, at + 3));
      if (at % 51 === 0) await checkOpening(setup, `after ${at + 3} events`);
    }
    const folded = await checkOpening(setup, 'at the end');
    if (setup.store.keepSnapshot === undefined) return;
    expect(folded <= 400, `at most 400 events to be folded, found ${folded} of ${events.length}`);
  }),
  the('the returned state belongs to the caller', async ({ store }) => {
    const writer = new FoldingWriter(store, await store.claim('one'));
    for (const event of eventsOf('one', longSession())) await writer.append([event]);
    const { state } = await openState(store);
    state.messages.length = 0;
    state.calls.push(...worked(1).map(() => undefined as never));
    expectEqual((await openState(store)).state, writer.state, 'the state returned again');
  }),
  the('a fenced-off writer leaves no snapshot', async ({ store }) => {
    const old = new FoldingWriter(store, await store.claim('one'));
    const events = eventsOf('one', longSession());
    await old.append(events.slice(0, 10));
    const epoch = await store.claim('one');
    await store.append('one', eventsOf('one', [said('Mine.')], 10), { epoch });
    // The events it folds now are not in the log.
    for (const event of events.slice(10)) fold(old.state, event);
    store.keepSnapshot?.('one', old.state, { epoch: epoch - 1 });
    await store.append('one', eventsOf('one', [ended()], 11), { epoch });
    expectEqual((await openState(store)).state, foldedWhole(await store.read('one')), 'the state');
  }),
  the('a session created again contains nothing of the old snapshot', async ({ store }) => {
    const writer = new FoldingWriter(store, await store.claim('one'));
    for (const event of eventsOf('one', longSession())) await writer.append([event]);
    await store.delete('one');
    expectEqual(await store.snapshot?.('one'), undefined, 'the snapshot of the deleted session');
    await write(store, 'one', wholeRun());
    expectEqual((await openState(store)).state, foldedWhole(await store.read('one')), 'the state');
  }),
  afterReopening('several processes in turn open a session from its snapshot', async (setup) => {
    const events = eventsOf('one', longSession());
    for (let at = 0; at < events.length; at += 100) {
      const epoch = await setup.store.claim('one');
      const writer = new FoldingWriter(setup.store, epoch);
      writer.state = (await openState(setup.store)).state;
      for (const event of events.slice(at, at + 100)) await writer.append([event]);
      await setup.reopen();
      await checkOpening(setup, `after ${at + 100} events`);
    }
  }),
];
