import type { Runtime } from '../values/runtime.ts';
import { systemRuntime } from '../values/runtime.ts';
import { seededRandom } from './service/seeded-random.ts';

/** A runtime whose time stands still until a test moves it, and whose chance and ids are always the same. */
export interface FakeRuntime extends Runtime {
  /**
   * Moves both clocks on by `ms` and fires what becomes due, in order of time and then of setting. Returns
   * when all of it was called; between two moments promises settle only if the result is awaited.
   */
  advance(ms: number): Promise<void>;
  /** Timers that were set and have neither fired nor been taken back. */
  readonly timers: number;
}

/** Where the chance and the clock of a `fakeRuntime` begin. */
export interface FakeRuntimeOptions {
  /** Default 1. */
  readonly seed?: number;
  /** What `now` says at first, in milliseconds since 1970. Default: the beginning of 2026. */
  readonly startedAt?: number;
}

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly fire: () => void;
}

const beginningOf2026 = 1_767_225_600_000;

/** How many rounds of promise reactions a test may need to come to rest. */
const rounds = 100;

/** Makes a runtime for a test. It reaches no network: its `fetch` rejects. */
export function fakeRuntime(options: FakeRuntimeOptions = {}): FakeRuntime {
  const { seed = 1, startedAt = beginningOf2026 } = options;
  const timers = new Set<Timer>();
  const random = seededRandom(seed);
  let elapsed = 0;
  let orders = 0;
  let ids = 0;

  function dueBy(end: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of timers) {
      if (timer.at > end) continue;
      if (first === undefined || timer.at < first.at || (timer.at === first.at && timer.order < first.order))
        first = timer;
    }
    return first;
  }

  return {
    now: () => startedAt + elapsed,
    monotonic: () => elapsed,
    timer(ms, fire) {
      const timer: Timer = { at: elapsed + Math.max(ms, 0), order: orders++, fire };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    random: () => random.next(),
    id: () => `id-${++ids}`,
    // Always the same for the same text, so the real one will do.
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

/** Lets promises settle, however many wait for each other in a row. */
async function atRest(): Promise<void> {
  for (let round = 0; round < rounds; round += 1) await undefined;
}
