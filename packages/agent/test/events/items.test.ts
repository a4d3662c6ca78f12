import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Event, LiveEvent, RunEvent } from '../../src/events/event.ts';
import type { ConversationItems } from '../../src/events/items.ts';
import { emptyItems, foldItems, itemsOf } from '../../src/events/items.ts';
import type { LiveResponse } from '../../src/events/live-response.ts';
import { joinedResponse, noLiveResponse } from '../../src/events/live-response.ts';
import { emptyState } from '../../src/events/state.ts';
import { answered, callPart, finished, place, result, said, started, story } from '../support/fold-story.ts';

const directory = new URL('../fixtures/events/', import.meta.url);
const recorded = readdirSync(directory).map((name): Event[] =>
  readFileSync(new URL(name, directory), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line): Event => JSON.parse(line)),
);

/** Generates a recorded log or any other sequence of events. */
const anyLog: fc.Arbitrary<Event[]> = fc.oneof(
  fc.constantFrom(...recorded),
  story.map((steps) => {
    const view = emptyItems();
    return steps.map(([runId, step], index) => {
      const event = place(step(view.state), index + 1, runId);
      foldItems(view, event);
      return event;
    });
  }),
);

const error = { kind: 'network', message: 'cut' } as const;
const index = fc.nat(3);
const words = fc.string({ maxLength: 5 });
const live: fc.Arbitrary<LiveEvent> = fc.oneof(
  fc.record({
    type: fc.constantFrom('text_delta', 'reasoning_delta', 'text', 'reasoning'),
    index,
    text: words,
  }),
  fc.record({ type: fc.constant('tool_input_delta' as const), index, json: words }),
  index.map((at): LiveEvent => {
    const call = { id: 'a', toolName: 'tool', arguments: {} };
    return { type: 'tool_call', index: at, call };
  }),
  fc.constantFrom<LiveEvent>(
    { type: 'started', v: 1, sessionId: 's', runId: 'run-1' },
    { type: 'retry', attempt: 1, error, delayMs: 1 },
    { type: 'status', state: 'thinking' },
    { type: 'progress', callId: 'a', toolName: 'tool', text: 'half' },
    { type: 'of_a_later_version' } as never,
  ),
);

/** Returns everything except the live response. */
function stored({ live: _, ...rest }: ConversationItems): Omit<ConversationItems, 'live'> {
  return rest;
}

describe('the items of a conversation', () => {
  it('fold from any part of any log without an error', () => {
    fc.assert(
      fc.property(anyLog, fc.nat(), fc.nat(), (events, one, other) => {
        const cuts = [one % (events.length + 1), other % (events.length + 1)];
        const part = events.slice(Math.min(...cuts), Math.max(...cuts));
        expect(itemsOf(part).state.seq).toBe(part.at(-1)?.seq ?? 0);
      }),
    );
  });

  it('are the same with and without the live events between the stored ones', () => {
    const between = fc.array(fc.array(live, { maxLength: 4 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(anyLog, between, (events, gaps) => {
        const all = events.flatMap((event, at): RunEvent[] => [...(gaps[at % gaps.length] ?? []), event]);
        expect(stored(itemsOf(all))).toEqual(stored(itemsOf(events)));
      }),
    );
  });

  it('ignore event types of a later version and repeated events', () => {
    fc.assert(
      fc.property(anyLog, fc.nat(3), (events, again) => {
        const view = emptyItems();
        for (const at of events.keys()) {
          for (const seen of events.slice(Math.max(0, at - again), at + 1)) foldItems(view, seen);
        }
        expect(view).toEqual(itemsOf(events));
        const count = view.items.length;
        const later = { ...events.at(-1), type: 'dreamt', seq: view.state.seq + 1 } as unknown as Event;
        foldItems(view, later);
        expect(view.items).toHaveLength(count);
      }),
    );
  });

  it('keep the same object for an item that did not change', () => {
    const view = itemsOf([place(said('go'), 1), place(answered([callPart('a'), callPart('b')]), 2)]);
    const before = [...view.items];
    foldItems(view, place(started(1, 0), 3));
    foldItems(view, place(result(1, 0), 4));
    expect(view.items[0]).toBe(before[0]);
    expect(view.items[1]).not.toBe(before[1]);
    expect(view.items[1]).toMatchObject({ calls: [{ report: { seq: 4 } }, { index: 1 }] });
  });

  it('show a message sent during a run in order, even if only the next prompt places it', () => {
    const view = itemsOf([place(said('go'), 1), place(said('wait', true), 2)]);
    expect(view.queued).toMatchObject([{ seq: 2, steer: true }]);
    foldItems(view, place(said('next'), 3));
    expect(view.queued).toEqual([]);
    expect(view.items).toMatchObject([{ seq: 1 }, { seq: 2, steer: true }, { seq: 3, steer: false }]);
  });

  it('mark the messages of an imported conversation', () => {
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'before' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'yes' }] },
    ] as const;
    const { items } = itemsOf([place({ type: 'history', messages }, 1), place(said('now'), 2)]);
    expect(items.map(({ imported }) => imported)).toEqual([true, true, undefined]);
  });
});

describe('the live response', () => {
  const after = (events: readonly RunEvent[], before: LiveResponse = noLiveResponse): LiveResponse => {
    const view = { ...emptyItems(), live: before };
    for (const event of events) foldItems(view, event);
    return view.live;
  };
  const delta = (text: string, at = 0): LiveEvent => ({ type: 'text_delta', index: at, text });

  it('grows with each delta and is replaced by the complete part', () => {
    const growing = after([delta('Hel'), delta('lo')]);
    expect(growing.blocks).toEqual([{ kind: 'text', index: 0, text: 'Hello', done: false, cut: false }]);
    expect(after([{ type: 'text', index: 0, text: 'Hello!' }], growing).blocks[0]).toMatchObject({
      text: 'Hello!',
      done: true,
    });
  });

  it('drops the text of a failed attempt', () => {
    const overloaded = { kind: 'rate_limit', message: '529 overloaded' } as const;
    const retrying = after([delta('Half'), { type: 'retry', attempt: 1, error: overloaded, delayMs: 4_000 }]);
    expect(retrying).toMatchObject({ blocks: [], retry: { reason: '529 overloaded', delayMs: 4_000 } });
    expect(after([delta('Anew')], retrying).retry).toBeUndefined();
  });

  it('marks a part as cut only if its start was missed', () => {
    const late = after([delta('rest')], joinedResponse(true));
    expect(late.blocks[0]?.cut).toBe(true);
    const whole = after([{ type: 'text', index: 0, text: 'The rest' }], late);
    expect(after([delta('next', 1)], whole).blocks.map(({ cut }) => cut)).toEqual([false, false]);
  });

  it('shows the reason of an end that is not in the log, until the log continues [P13]', () => {
    const ended = after([
      delta('Half'),
      {
        v: 1,
        time: '2026-01-01T00:00:00.000Z',
        runId: 'run',
        type: 'finished',
        status: 'failed',
        error: { kind: 'agent', code: 'store', message: 'The event store failed: no room' },
        metrics: emptyState().metrics,
      },
    ]);
    expect([ended.blocks, ended.unstoredEnd]).toEqual([[], 'The event store failed: no room']);
    expect(after([place({ type: 'resumed' }, 1)], ended)).toEqual(noLiveResponse);
  });

  it('ends once the log contains the response', () => {
    const streaming = after([delta('Hello')]);
    expect(after([place(answered([]), 1)], streaming).blocks).toEqual([]);
    expect(after([place(said('go'), 1)], streaming).blocks).toHaveLength(1);
    expect(after([place(finished('complete'), 1)], streaming)).toEqual(noLiveResponse);
  });
});
