import { describe, expect, it } from 'vitest';
import { Stopwatch } from '../../src/loop/stopwatch.ts';
import { fakeRuntime } from '../../src/testing/index.ts';

function rig(ms: number) {
  const runtime = fakeRuntime();
  let fired = 0;
  const watch = new Stopwatch(runtime, ms, () => {
    fired += 1;
  });
  return { runtime, watch, fired: () => fired };
}

describe('the clock of a run', () => {
  it('fires once when the time is up [P2]', async () => {
    const { runtime, fired } = rig(1000);
    await runtime.advance(999);
    expect(fired()).toBe(0);
    await runtime.advance(5000);
    expect([fired(), runtime.timers]).toEqual([1, 0]);
  });

  it('continues with the remaining time after a hold, however long it took [P2]', async () => {
    const { runtime, watch, fired } = rig(1000);
    await runtime.advance(600);
    const resume = watch.hold();
    expect(runtime.timers).toBe(0);
    await runtime.advance(86_400_000);
    resume();
    await runtime.advance(399);
    expect(fired()).toBe(0);
    await runtime.advance(1);
    expect(fired()).toBe(1);
  });

  it('stops until the last of several holds has ended, each counted once [P2]', async () => {
    const { runtime, watch, fired } = rig(1000);
    const holds = [watch.hold(), watch.hold()] as const;
    holds[0]();
    holds[0]();
    await runtime.advance(5000);
    expect([fired(), runtime.timers]).toEqual([0, 0]);
    holds[1]();
    await runtime.advance(1000);
    expect(fired()).toBe(1);
  });

  it('never fires after stop, even if a hold ends later', async () => {
    const { runtime, watch, fired } = rig(1000);
    const resume = watch.hold();
    watch.stop();
    resume();
    await runtime.advance(10_000);
    expect([fired(), runtime.timers]).toEqual([0, 0]);
  });

  it('has no timer without a limit', () => {
    expect(rig(Number.POSITIVE_INFINITY).runtime.timers).toBe(0);
  });
});
