import type { Runtime } from '../values/runtime.ts';
import { systemRuntime } from '../values/runtime.ts';
import { seededRandom } from './service/seeded-random.ts';

/** A runtime whose time only advances when a test advances it, and whose random numbers and ids are always the same. */
export interface FakeRuntime extends Runtime {
  /**
   * Advances both clocks by `ms` and fires the timers that become due, ordered by time and then by creation. Resolves
   * after all of them were called; await it so that promises can settle between two timers.
   */
  advance(ms: number): Promise<void>;
  /** Number of timers that have neither fired nor been cancelled. */
  readonly timers: number;
}

/** Options of {@link fakeRuntime}. */
export interface FakeRuntimeOptions {
  /** Seed of the random numbers. Default 1. */
  readonly seed?: number;
  /** Initial value of `now` in milliseconds since 1970. Default: the start of 2026. */
  readonly startedAt?: number;
}

interface Timer {
  readonly at: number;
  readonly fire: () => void;
}

const beginningOf2026 = 1_767_225_600_000;

/** Number of rounds of promise callbacks that are enough for all promises of a test to settle. */
const rounds = 100;

/** Creates a runtime for a test. It has no network access: its `fetch` rejects. */
export function fakeRuntime(options: FakeRuntimeOptions = {}): FakeRuntime {
  const { seed = 1, startedAt = beginningOf2026 } = options;
  const timers = new Set<Timer>();
  const random = seededRandom(seed);
  let elapsed = 0;
  let ids = 0;

  function dueBy(end: number): Timer | undefined {
    let first: Timer | undefined;
    // The timers are in the order of their creation.
    for (const timer of timers)
      if (timer.at <= end && timer.at < (first?.at ?? Number.POSITIVE_INFINITY)) first = timer;
    return first;
  }

  return {
    now: () => startedAt + elapsed,
    monotonic: () => elapsed,
    timer(ms, fire) {
      const timer: Timer = { at: elapsed + Math.max(ms, 0), fire };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    random: () => random.next(),
    id: () => `id-${++ids}`,
    // The real digest is deterministic.
    digest: (text) => systemRuntime.digest(text),
    fetch: () => Promise.reject(new Error('The fake runtime has no network.')),
    get timers() {
      return timers.size;
    },
    async advance(ms) {
      const end = elapsed + ms;
      for (let timer = dueBy(end); timer !== undefined; timer = dueBy(end)) {
        timers.delete(timer);
        elapsed = Math.max(elapsed, timer.at);
        timer.fire();
        await atRest();
      }
      elapsed = Math.max(elapsed, end);
      await atRest();
    },
  };
}

/** Lets promises settle, even long chains of them. */
async function atRest(): Promise<void> {
  for (let round = 0; round < rounds; round += 1) await undefined;
}
