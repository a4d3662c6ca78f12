import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Event } from '../../src/events/event.ts';
import { fold } from '../../src/events/fold.ts';
import type { State } from '../../src/events/state.ts';
import { emptyState, foldVersion, snapshotState, snapshotText } from '../../src/events/state.ts';
import { isObject } from '../../src/values/json.ts';
import { place, story } from '../support/fold-story.ts';

/** Logs with events of every type, then ones with partial responses, then one with a crash after an approval. Never regenerated. */
const stories = ['stories', 'partial', 'approval'].flatMap((name) =>
  readFileSync(new URL(`../fixtures/fold/${name}.jsonl`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line): Event[] => JSON.parse(line)),
);

/** Digest of the states that each version of the fold computes from the logs. */
const digests: Readonly<Record<number, string>> = {
  // Only of the logs without partial responses.
  1: 'b159e0cdfde24fff',
  2: 'dbd40c6dc54dd806',
  // Of the logs without the approval.
  3: '9f1abbc98fab763f',
  // Also adds the user, whom no event of the logs names, and reached limits.
  4: '5c5898db42bdd298',
  // Also adds what is in the cache of the provider, of which no event of the logs reports anything.
  5: '5c5898db42bdd298',
  // Also adds untrusted output, of which the logs contain none.
  6: '5c5898db42bdd298',
  // Other words for a call that was not run and for a response that was cut off.
  7: 'b70c11c35283ecd1',
};

/** Returns a text that does not depend on the order of the fields. */
function textOf(state: State): string {
  return JSON.stringify(state, (_key, value: unknown) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).sort()) : value,
  );
}

/** Yields the state after each event. */
function* states(events: readonly Event[]): Generator<State> {
  const state = emptyState();
  for (const event of events) {
    fold(state, event);
    yield state;
  }
}

test('foldVersion changes when the fold computes different states', () => {
  const digest = createHash('sha256');
  for (const events of stories) for (const state of states(events)) digest.update(textOf(state));
  const advice =
    'The fold computes different states: increment foldVersion and record the digest, so that old snapshots are not used.';
  expect(digest.digest('hex').slice(0, 16), advice).toBe(digests[foldVersion]);
});

test('a state can be restored from its text at any point, and folded further', () => {
  const check = (events: readonly Event[]) => {
    for (const [index, state] of [...states(events).map((state) => structuredClone(state))].entries()) {
      const back = snapshotState(snapshotText(state), JSON.parse(JSON.stringify(state.messages)));
      if (back === undefined) throw new Error('The snapshot cannot be read.');
      expect(back).toEqual(state);
      for (const event of events.slice(index + 1)) {
        fold(state, event);
        fold(back, event);
      }
      expect(back).toEqual(state);
    }
  };
  const logs = story.map((steps) => {
    const state = emptyState();
    return steps.slice(0, 12).map(([runId, step], index) => {
      const event: Event = JSON.parse(JSON.stringify(place(step(state), index + 1, runId)));
      fold(state, event);
      return event;
    });
  });
  fc.assert(fc.property(logs, check), { numRuns: 100 });
});

test.each(['', 'null', '[]', '"x"', '{', '{}', '{"seq":1}', '{"seq":"1","calls":[]}'])(
  '%s is not a snapshot',
  (text) => {
    expect(snapshotState(text, [])).toBe(undefined);
  },
);
