import type { Runtime } from '@cobbler/agent';
import type { SeededRandom } from '@cobbler/agent/testing';
import { seededRandom } from '@cobbler/agent/testing';
import type { ProcessOwner, World } from './world.ts';

/** The sites where an external event can interrupt a program. A program crosses each of them many times. */
export type Site =
  | 'store'
  | 'stored'
  | 'request'
  | 'head'
  | 'chunk'
  | 'gate'
  | 'tool'
  | 'tool done'
  | 'timer'
  | 'event'
  | 'shown'
  | 'summary'
  | 'shape'
  | 'blob';

/** An external event at an exact moment. */
export interface Impulse {
  readonly site: Site;
  /** Number of the crossing of the site, counted from 1. */
  readonly nth: number;
  /** Number of promise reaction rounds to wait; 0 acts during the crossing itself. */
  readonly ticks: number;
  readonly what: string;
  readonly act: () => void;
}

/**
 * A simulated process: the resources it uses and leaves behind. A dead process no longer affects the world,
 * even if its code still runs.
 */
export class Program implements ProcessOwner {
  readonly name: string;
  readonly world: World;
  readonly runtime: Runtime;
  readonly #timers = new Map<object, number>();
  readonly #connections = new Set<object>();
  readonly #listeners = new Map<AbortSignal, Set<unknown>>();
  readonly #crossed = new Map<Site, number>();
  readonly #random: SeededRandom;
  #impulses: Impulse[] = [];
  #ids = 0;
  #alive = true;

  constructor(name: string, world: World, seed: number) {
    this.name = name;
    this.world = world;
    this.#random = seededRandom(seed);
    this.runtime = this.#runtime();
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** Returns the durations of all pending timers, in milliseconds. */
  get timers(): readonly number[] {
    return [...this.#timers.values()];
  }

  /** The number of open connections. */
  get connections(): number {
    return this.#connections.size;
  }

  /** The number of listeners on the signals that were passed out. */
  get listeners(): number {
    let count = 0;
    for (const listeners of this.#listeners.values()) count += listeners.size;
    return count;
  }

  /** Ends the process instantly. */
  kill(): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.world.forget(this);
    this.world.note(`${this.name}: killed`);
  }

  /** Schedules an external event for its moment. */
  arrange(impulse: Impulse): void {
    this.#impulses.push(impulse);
  }

  /** Records that the program is at a site where an external event can interrupt it. */
  cross(site: Site): void {
    this.world.touch();
    const count = (this.#crossed.get(site) ?? 0) + 1;
    this.#crossed.set(site, count);
    const now = this.#impulses.filter((impulse) => impulse.site === site && impulse.nth === count);
    if (now.length === 0) return;
    this.#impulses = this.#impulses.filter((impulse) => !now.includes(impulse));
    for (const impulse of now) void this.#strike(impulse);
  }

  opened(connection: object): void {
    this.#connections.add(connection);
  }

  closed(connection: object): void {
    this.#connections.delete(connection);
  }

  /** Counts the listeners of a signal from now on. */
  watch(signal: AbortSignal): void {
    if (this.#listeners.has(signal)) return;
    const listeners = new Set<unknown>();
    const once = new Set<unknown>();
    signal.addEventListener('abort', () => {
      for (const listener of once) listeners.delete(listener);
    });
    this.#listeners.set(signal, listeners);
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    Object.defineProperty(signal, 'addEventListener', {
      value: (type: 'abort', listener: () => void, options?: AddEventListenerOptions) => {
        listeners.add(listener);
        if (options?.once === true) once.add(listener);
        add(type, listener, options);
      },
    });
    Object.defineProperty(signal, 'removeEventListener', {
      value: (type: 'abort', listener: () => void) => {
        listeners.delete(listener);
        remove(type, listener);
      },
    });
  }

  async #strike({ ticks, what, act }: Impulse): Promise<void> {
    for (let tick = 0; tick < ticks; tick += 1) {
      this.world.touch();
      await undefined;
    }
    if (!this.#alive) return;
    this.world.note(`${this.name}: ${what}`);
    act();
  }

  #runtime(): Runtime {
    const { world } = this;
    const touched = <Value>(value: Value): Value => {
      world.touch();
      return value;
    };
    return {
      now: () => touched(world.wallClock),
      monotonic: () => touched(world.elapsed),
      timer: (ms, fire) => this.#timer(ms, fire),
      random: () => touched(this.#random.next()),
      id: () => touched(`${this.name}-${++this.#ids}`),
      digest: (text) => Promise.resolve(touched(checksum(text))),
      fetch: () => Promise.reject(new Error('The simulated world has no network apart from its transport.')),
    };
  }

  #timer(ms: number, fire: () => void): () => void {
    if (!this.#alive) return () => {};
    const key = {};
    this.#timers.set(key, ms);
    const cancel = this.world.after(ms, this, `a timer of ${ms.toFixed(0)} ms fires`, () => {
      this.#timers.delete(key);
      this.cross('timer');
      fire();
    });
    return () => {
      this.#timers.delete(key);
      cancel();
    };
  }
}

/** A fast replacement for a digest: a real one takes real time. */
function checksum(text: string): string {
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return `${sum.toString(16).padStart(8, '0')}-${text.length}`;
}
