import { createHash } from 'node:crypto';
import type { FakeRuntime } from '../../src/testing/fake-runtime.ts';
import { fakeRuntime } from '../../src/testing/fake-runtime.ts';

/** Returns a runtime whose clock stands still until moved and whose digests are immediate. */
export function stillRuntime(): FakeRuntime {
  const clock = fakeRuntime();
  return {
    now: clock.now,
    monotonic: clock.monotonic,
    timer: clock.timer,
    random: clock.random,
    id: clock.id,
    fetch: clock.fetch,
    get timers() {
      return clock.timers;
    },
    digest: async (text: string) => createHash('sha256').update(text).digest('hex'),
    /** Moves the clock, and lets file writes finish before and after. */
    async advance(ms: number): Promise<void> {
      for (let round = 0; round < 4; round += 1) await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(ms);
      for (let round = 0; round < 4; round += 1) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}
