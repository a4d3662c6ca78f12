import { describe, expect, test } from 'vitest';
import { fakeRuntime } from '../../src/testing/fake-runtime.ts';

describe('the fake runtime', () => {
  test('keeps its clocks still until advance moves both together', async () => {
    const runtime = fakeRuntime({ startedAt: 1000 });
    expect([runtime.now(), runtime.monotonic()]).toEqual([1000, 0]);
    await runtime.advance(250);
    expect([runtime.now(), runtime.monotonic()]).toEqual([1250, 250]);
  });

  test('fires timers by time, then by creation order, each at its exact time', async () => {
    const runtime = fakeRuntime();
    const fired: [string, number][] = [];
    const set = (name: string, ms: number) =>
      runtime.timer(ms, () => fired.push([name, runtime.monotonic()]));
    set('c', 30);
    set('a', 10);
    set('b', 10);
    set('late', 31);
    await runtime.advance(30);
    expect(fired).toEqual([
      ['a', 10],
      ['b', 10],
      ['c', 30],
    ]);
    expect(runtime.timers).toBe(1);
  });

  test('does not fire a cancelled timer', async () => {
    const runtime = fakeRuntime();
    let fired = 0;
    const takeBack = runtime.timer(5, () => {
      fired += 1;
    });
    takeBack();
    await runtime.advance(10);
    expect([fired, runtime.timers]).toEqual([0, 0]);
  });

  test('fires timers that a timer or its promise sets in the same call of advance', async () => {
    const runtime = fakeRuntime();
    const fired: number[] = [];
    runtime.timer(10, async () => {
      fired.push(runtime.monotonic());
      await undefined;
      runtime.timer(10, () => fired.push(runtime.monotonic()));
    });
    await runtime.advance(20);
    expect(fired).toEqual([10, 20]);
  });

  test('never sets the clock back in overlapping calls of advance', async () => {
    const runtime = fakeRuntime();
    runtime.timer(10, () => {});
    await Promise.all([runtime.advance(10), runtime.advance(500)]);
    expect(runtime.monotonic()).toBeGreaterThanOrEqual(500);
  });

  test('returns the same random numbers and ids for the same seed', () => {
    const taken = (seed: number) => {
      const runtime = fakeRuntime({ seed });
      return [runtime.random(), runtime.random(), runtime.id(), runtime.id()];
    };
    expect(taken(3)).toEqual(taken(3));
    expect(taken(3)[0]).not.toBe(taken(4)[0]);
    expect(taken(3).slice(2)).toEqual(['id-1', 'id-2']);
  });

  test('has no network', async () => {
    await expect(fakeRuntime().fetch('https://plain.test')).rejects.toThrow(/no network/);
  });
});
