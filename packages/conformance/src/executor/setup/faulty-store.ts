import type { Runtime, Store } from '@cobbler/agent';
import { writerReplaced } from '@cobbler/agent/store';
import type { SeededRandom } from '@cobbler/agent/testing';

/** A store whose every answer takes up to `maxMs` by the runtime's clock. */
export function slowStore(store: Store, runtime: Runtime, { random, maxMs }: Slowness): Store {
  const later = () => new Promise<void>((resolve) => runtime.timer(random.between(1, maxMs), resolve));
  return {
    async claim(sessionId, origin) {
      await later();
      return store.claim(sessionId, origin);
    },
    async append(sessionId, events, writer) {
      await later();
      await store.append(sessionId, events, writer);
      await later();
    },
    async read(sessionId, afterSeq, limit) {
      await later();
      return store.read(sessionId, afterSeq, limit);
    },
    sessions: () => store.sessions(),
  };
}

export interface Slowness {
  readonly random: SeededRandom;
  readonly maxMs: number;
}

/** How a store fails: at once or later, never answering, after it has written all the same, or fenced off. */
export type StoreFault =
  | 'throws'
  | 'rejects'
  | 'hangs'
  | 'writes, then rejects'
  | 'writes, then hangs'
  | 'is fenced';

export const storeFaults: readonly StoreFault[] = [
  'throws',
  'rejects',
  'hangs',
  'writes, then rejects',
  'writes, then hangs',
  'is fenced',
];

/** Where a store fails: at its claim, while it reads, or at one append, counted from 0. */
export type FaultPoint = 'claim' | 'read' | number;

/** A store that fails at one place. */
export interface FaultyStore extends Store {
  /** The appends it was asked for. */
  readonly appends: number;
  /** Whether it has come to the place. */
  readonly failed: boolean;
}

export function faultyStore(store: Store, place: FaultPoint, fault: StoreFault): FaultyStore {
  let appends = 0;
  let failed = false;
  const failing = <Value>(sessionId: string, work: () => Value | Promise<Value>): Promise<Value> => {
    failed = true;
    const written = fault.startsWith('writes') ? work() : undefined;
    if (fault === 'throws') throw diskFull();
    if (fault.endsWith('hangs')) return new Promise(() => {});
    const error = fault === 'is fenced' ? writerReplaced(sessionId) : diskFull();
    return Promise.resolve(written).then(() => Promise.reject(error));
  };
  return {
    get appends() {
      return appends;
    },
    get failed() {
      return failed;
    },
    claim: (sessionId, origin) => {
      const work = () => store.claim(sessionId, origin);
      return place === 'claim' ? failing(sessionId, work) : work();
    },
    append(sessionId, events, writer) {
      const work = () => store.append(sessionId, events, writer);
      return appends++ === place ? failing(sessionId, work) : work();
    },
    read(sessionId, afterSeq, limit) {
      const work = () => store.read(sessionId, afterSeq, limit);
      return place === 'read' ? failing(sessionId, work) : work();
    },
    sessions: () => store.sessions(),
  };
}

function diskFull(): Error {
  return Object.assign(new Error('the disk is full'), { code: 'ENOSPC' });
}
