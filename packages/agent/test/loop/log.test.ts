import { describe, expect, it } from 'vitest';
import type { Event, EventBody, UnstoredEnd } from '../../src/events/event.ts';
import type { State } from '../../src/events/state.ts';
import { emptyState } from '../../src/events/state.ts';
import { noMetrics } from '../../src/interfaces/metrics.ts';
import type { LogConfig, LogOwner } from '../../src/loop/log.ts';
import { Log } from '../../src/loop/log.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { openSession } from '../../src/store/open-session.ts';
import type { Store } from '../../src/store/store.ts';
import { fakeRuntime } from '../../src/testing/fake-runtime.ts';
import type { AgentError } from '../../src/values/errors.ts';
import { answered, finished, said, told } from '../support/fold-story.ts';

/** Returns a log over a store, with its runtime, state, published events and failures. */
function rig(changes: Partial<LogConfig & LogOwner> = {}, store: Store = memoryStore()) {
  const runtime = fakeRuntime();
  const shown: (Event | UnstoredEnd)[] = [];
  const failures: AgentError[] = [];
  const state = emptyState();
  const settings = {
    store,
    sessionId: 's',
    runId: 'run-1',
    state,
    runtime,
    storeTimeoutMs: 5000,
    claim: async () => ({ epoch: await store.claim('s'), state: await openSession(store, 's') }),
    open: () => [said('Go.')],
    publish: (event: Event | UnstoredEnd) => void shown.push(event),
    onFailure: (error: AgentError) => void failures.push(error),
    ...changes,
  };
  const log = new Log(settings, settings);
  return { log, runtime, shown, failures, state, store };
}

/** Returns a store that holds each append until the test releases it. */
function heldStore() {
  const store = memoryStore();
  const waiting: { readonly events: readonly Event[]; readonly release: (error?: Error) => void }[] = [];
  const held: Store = {
    ...store,
    append: (sessionId, events, writer) =>
      new Promise<void>((resolve, reject) => {
        const release = (error?: Error) => {
          if (error !== undefined) return reject(error);
          void store.append(sessionId, events, writer);
          resolve();
        };
        waiting.push({ events, release });
      }),
  };
  return { held, store, waiting };
}

async function rest(): Promise<void> {
  for (let round = 0; round < 50; round += 1) await undefined;
}

const types = (events: readonly (Event | UnstoredEnd)[]): string[] => events.map(({ type }) => type);

describe('the log', () => {
  it('assigns positions without gaps, ids that follow from them, and one time to events written together [L1]', async () => {
    const { log, shown, runtime } = rig();
    log.open();
    await log.append([said('a', true), said('b', true)]);
    await runtime.advance(1500);
    await log.append([said('c', true)]);
    expect(shown.map(({ seq, id }) => [seq, id])).toEqual([1, 2, 3, 4].map((seq) => [seq, `s-${seq}`]));
    expect(shown.map(({ time }) => time)).toEqual([
      '2026-01-01T00:00:00.000Z',
      '2026-01-01T00:00:00.000Z',
      '2026-01-01T00:00:00.000Z',
      '2026-01-01T00:00:01.500Z',
    ]);
  });

  it('continues after the last event of the session [L1]', async () => {
    const first = rig();
    first.log.open();
    await first.log.finish(finished('complete') as never);
    const second = rig({ runId: 'run-2' }, first.store);
    second.log.open();
    await second.log.untilSettled();
    expect(second.shown.map(({ seq }) => seq)).toEqual([3]);
    expect(second.state.messages).toHaveLength(2);
  });

  it('has one append in flight, and events that arrive in the meantime share the next [L2]', async () => {
    const { held, waiting } = heldStore();
    const { log } = rig({}, held);
    log.open();
    await rest();
    const later = ['a', 'b', 'c'].map((text) => log.append([said(text, true)]));
    await rest();
    expect(waiting.map(({ events }) => events.length)).toEqual([1]);
    waiting[0]?.release();
    await rest();
    expect(waiting.map(({ events }) => events.length)).toEqual([1, 3]);
    waiting[1]?.release();
    expect(await Promise.all(later)).toEqual([true, true, true]);
    expect(log.busy).toBe(false);
  });

  it('a step recorded while an append is in flight shares the next [L2]', async () => {
    const { held, waiting } = heldStore();
    const { log } = rig({}, held);
    log.open();
    await rest();
    const later = ['a', 'b'].map((text) => log.record([said(text, true)]));
    expect(waiting.map(({ events }) => events.length)).toEqual([1]);
    waiting[0]?.release();
    await rest();
    expect(waiting.map(({ events }) => events.length)).toEqual([1, 2]);
    waiting[1]?.release();
    expect(await Promise.all(later)).toEqual([true, true]);
    expect(log.busy).toBe(false);
  });

  it('a synchronous store accepts a step immediately', async () => {
    const { log, shown, state } = rig();
    log.open();
    await rest();
    expect(log.record([answered([{ type: 'text', text: 'Done.' }])])).toBe(true);
    expect([types(shown), state.seq, log.busy]).toEqual([['user', 'assistant'], 2, false]);
    expect(log.record([])).toBe(true);
    expect(state.seq).toBe(2);
  });

  it('an event that a listener appends during a step follows the step [L2]', async () => {
    const said2 = said('And this.', true);
    const shown: (Event | UnstoredEnd)[] = [];
    const { log, state } = rig({
      publish: (event) => {
        shown.push(event);
        if (event.type === 'assistant') void log.append([said2]);
      },
    });
    log.open();
    await rest();
    const recorded = log.record([answered([{ type: 'text', text: 'Done.' }])]);
    expect([types(shown), log.busy]).toEqual([['user', 'assistant'], true]);
    expect(await recorded).toBe(true);
    expect([types(shown), state.seq, log.busy]).toEqual([['user', 'assistant', 'user'], 3, false]);
  });

  it('a step is folded and shown once the store has accepted it [L3]', async () => {
    const { held, waiting } = heldStore();
    const { log, shown } = rig({}, held);
    log.open();
    await rest();
    waiting[0]?.release();
    await rest();
    const recorded = log.record([answered([{ type: 'text', text: 'Done.' }])]);
    await rest();
    expect(types(shown)).toEqual(['user']);
    waiting[1]?.release();
    expect(await recorded).toBe(true);
    expect([types(shown), log.busy]).toEqual([['user', 'assistant'], false]);
  });

  it('a step that a store rejects immediately is the last one sent to it [L4]', async () => {
    let appends = 0;
    const store = memoryStore();
    const refusing: Store = {
      ...store,
      append: (...given) => {
        appends += 1;
        if (appends === 2) throw new Error('no room');
        return store.append(...given);
      },
    };
    const { log, shown, failures, state } = rig({}, refusing);
    log.open();
    await rest();
    expect(log.record([answered([{ type: 'text', text: 'Done.' }])])).toBe(false);
    expect(failures.map(({ message }) => message)).toEqual(['The event store failed: no room']);
    await log.append([said('More.', true)]);
    expect([appends, types(shown), state.seq]).toEqual([2, ['user'], 1]);
  });

  it('folds and shows nothing before the store has accepted it [L3]', async () => {
    const { held, waiting } = heldStore();
    const { log, shown, state } = rig({}, held);
    log.open();
    await rest();
    expect([shown.length, state.messages.length]).toEqual([0, 0]);
    waiting[0]?.release();
    await rest();
    expect([shown.length, state.messages.length]).toEqual([1, 1]);
  });

  it('predicts the state after all pending events, and changes nothing [L3]', async () => {
    const { held, waiting } = heldStore();
    const { log, state } = rig({}, held);
    expect(log.foreseen().messages).toHaveLength(1);
    log.open();
    await rest();
    void log.append([answered([{ type: 'text', text: 'Done.' }])]);
    void log.append([{ type: 'stop_requested', reason: 'cancelled' }]);
    expect(log.foreseen()).toMatchObject({ stop: 'cancelled', turns: 1, seq: 3 });
    expect(log.foreseen().messages).toHaveLength(2);
    expect(state).toMatchObject({ stop: undefined, turns: 0, seq: 0 });
    waiting[0]?.release();
    await rest();
    waiting[1]?.release();
    await rest();
    expect(log.foreseen()).toEqual(state);
  });

  it('sends nothing to a failed store, and shows only the end [L4, P13]', async () => {
    const { held, waiting } = heldStore();
    const { log, shown, failures, state } = rig({}, held);
    log.open();
    await rest();
    waiting[0]?.release();
    const lost = log.append([answered([{ type: 'text', text: 'Done.' }])]);
    await rest();
    waiting[1]?.release(new Error('the disk is full'));
    await lost;
    const more = log.append([said('more', true)]);
    const ended = log.finish(finished('complete') as never);
    await rest();
    expect(waiting).toHaveLength(2);
    await Promise.all([more, ended]);
    expect(types(shown)).toEqual(['user', 'finished']);
    expect(failures.map(({ code }) => code)).toEqual(['store']);
    expect(log.failure?.message).toContain('the disk is full');
    expect(state.messages).toHaveLength(3);
  });

  it('a successful end that could not be stored is a failure; a requested end stays as it is [L4]', async () => {
    const ends = async (status: 'complete' | 'waiting' | 'limit' | 'cancelled' | 'timeout' | 'failed') => {
      const { held, waiting } = heldStore();
      const { log, shown } = rig({}, held);
      log.open();
      await rest();
      waiting[0]?.release();
      await rest();
      const ended = log.finish(finished(status) as never);
      await rest();
      waiting[1]?.release(new Error('no'));
      await ended;
      return shown.at(-1);
    };
    for (const status of ['complete', 'waiting', 'limit'] as const) {
      expect(await ends(status)).toMatchObject({ status: 'failed', error: { code: 'store' } });
    }
    for (const status of ['cancelled', 'timeout', 'failed'] as const) {
      expect(await ends(status)).toMatchObject({ status });
    }
  });

  it('an end that the store has not accepted is shown without a position, even if it is stored later [L1, P13]', async () => {
    const { held, store, waiting } = heldStore();
    const { log, shown, state } = rig({}, held);
    log.open();
    await rest();
    waiting[0]?.release();
    await rest();
    const ended = log.finish(finished('complete') as never);
    log.leave();
    waiting[1]?.release();
    await ended;
    expect(shown.map(({ type, seq, id }) => [type, seq, id])).toEqual([
      ['user', 1, 's-1'],
      ['finished', undefined, undefined],
    ]);
    expect(shown.at(-1)).toMatchObject({ runId: 'run-1', status: 'failed', error: { code: 'store' } });
    expect(shown.at(-1)).not.toHaveProperty('seq');
    // A reader of the store gets the stored events.
    expect(store.read('s')).toMatchObject([{ seq: 1 }, { seq: 2, status: 'complete' }]);
    expect([state.seq, state.finished?.status]).toEqual([1, 'failed']);
  });

  it('accepts nothing after the end, not even while the end is being written [L5]', async () => {
    const { held, waiting } = heldStore();
    const { log, shown } = rig({}, held);
    log.open();
    await rest();
    waiting[0]?.release();
    await rest();
    const ended = log.finish(finished('complete') as never);
    expect(log.closed).toBe(true);
    const late = log.append([said('late', true)]);
    waiting[1]?.release();
    await rest();
    expect(waiting).toHaveLength(2);
    await ended;
    expect(await late).toBe(false);
    expect(types(shown)).toEqual(['user', 'finished']);
  });

  it.each([
    ['claim', { claim: () => new Promise<never>(() => {}) }],
    ['append', { store: { ...memoryStore(), append: () => new Promise<never>(() => {}) } }],
  ] as const)(
    'a store that never responds to a %s fails after its time limit [P13]',
    async (_name, changes) => {
      const { log, runtime, failures } = rig(changes);
      log.open();
      await rest();
      await runtime.advance(4999);
      expect(failures).toHaveLength(0);
      await runtime.advance(1);
      await log.untilSettled();
      expect(failures[0]).toMatchObject({ kind: 'agent', code: 'store' });
      expect(runtime.timers).toBe(0);
    },
  );

  it('a store that responds too late has no effect', async () => {
    const { promise, resolve } = Promise.withResolvers<{ epoch: number; state: State }>();
    const { log, runtime, state } = rig({ claim: () => promise });
    log.open();
    await runtime.advance(5000);
    await log.untilSettled();
    const before = JSON.stringify(state);
    resolve({ epoch: 1, state: told(said('Old.')) });
    await rest();
    expect(JSON.stringify(state)).toBe(before);
  });

  it('an error at the start fails the log with that error and writes nothing', async () => {
    const { log, failures, store, shown } = rig({
      open: () => {
        throw Object.assign(new Error('no such session'), { name: 'Refusal' });
      },
    });
    log.open();
    await log.finish({ type: 'finished', status: 'failed', metrics: noMetrics });
    expect(failures.map(({ message }) => message)).toEqual(['no such session']);
    expect(await store.read('s')).toEqual([]);
    expect(types(shown)).toEqual(['finished']);
  });

  it('an append from inside a listener is written after the event being shown', async () => {
    const bodies: EventBody[] = [said('again', true)];
    const { log, shown } = rig({
      publish(event) {
        shown.push(event);
        const next = bodies.shift();
        if (next !== undefined) void log.append([next]);
      },
    });
    log.open();
    await log.untilSettled();
    expect(shown.map(({ seq }) => seq)).toEqual([1, 2]);
  });
});

describe('the memory store', () => {
  it('fences a replaced writer and rejects gaps, writing nothing', async () => {
    const store = memoryStore();
    const event = (seq: number): Event =>
      ({ v: 1, seq, id: `s-${seq}`, time: '', runId: 'r', ...said('x') }) as Event;
    const old = await store.claim('s');
    const epoch = await store.claim('s');
    expect(() => store.append('s', [event(1)], { epoch: old })).toThrow(/taken over/);
    expect(() => store.append('s', [event(1), event(3)], { epoch })).toThrow(/unexpected sequence number/);
    expect(() => store.append('s', [event(2)], { epoch })).toThrow(/unexpected sequence number/);
    expect(await store.read('s')).toEqual([]);
    await store.append('s', [event(1), event(2)], { epoch });
    expect((await store.read('s', 1)).map(({ seq }) => seq)).toEqual([2]);
    expect(await store.read('unknown')).toEqual([]);
    expect(await store.sessions()).toEqual(['s']);
  });
});
