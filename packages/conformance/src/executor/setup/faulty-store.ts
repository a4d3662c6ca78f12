import type { Runtime, Store } from '@cobbler/agent';
import { writerReplaced } from '@cobbler/agent/store';
import type { SeededRandom } from '@cobbler/agent/testing';

/** Returns a store whose every operation takes up to `maxMs` by the runtime's clock. */
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

/**
 * The kind of a store failure: immediately or later, without settling, after a successful write, or by fencing off the
 * writer.
 */
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

/** The point of a store failure: at a claim, at a read, or at the append with this index, counted from 0. */
export type FaultPoint = 'claim' | 'read' | number;

/** A store that fails at one point. */
export interface FaultyStore extends Store {
  /** The number of appends so far. */
  readonly appends: number;
  /** True after the failure. */
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
