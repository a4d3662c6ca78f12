import type { Choices } from './choices.ts';

/** The owner of scheduled actions. They end with its process. */
export interface ProcessOwner {
  readonly name: string;
}

/** A broken promise or invariant. */
export interface Violation {
  /** Name of the promise or invariant, such as `P9 once`. It stays the same while a trace is shrunk. */
  readonly rule: string;
  readonly message: string;
}

interface ScheduledAction {
  /** The due time, on the monotonic clock. */
  readonly at: number;
  readonly owner: ProcessOwner;
  readonly what: string;
  readonly act: () => void;
}

/**
 * Actions that are due within this many milliseconds may happen in any order: no clock and no network is
 * exact.
 */
const tieMs = 1;

/** Number of promise reaction rounds without activity after which the world counts as idle. */
const quietRounds = 50;

/**
 * Number of rounds with activity after which the world counts as endlessly busy. A busy run takes some
 * hundred.
 */
const maxRounds = 20_000;

const startOfWallClock = 1_767_225_600_000;

/**
 * Time, order and the trace of a simulation, which all its parts use. Nothing happens in real time: delayed
 * actions are scheduled here and run when they are due.
 */
export class World {
  readonly choices: Choices;
  readonly #pending: ScheduledAction[] = [];
  readonly #gone = new WeakSet<ProcessOwner>();
  readonly #trace: string[] = [];
  #elapsed = 0;
  #jumped = 0;
  #signs = 0;
  #steps = 0;
  #violation: Violation | undefined;

  constructor(choices: Choices) {
    this.choices = choices;
  }

  /** Milliseconds since the start. Never decreases. */
  get elapsed(): number {
    return this.#elapsed;
  }

  /** The wall clock, which users and time servers may set to any value. */
  get wallClock(): number {
    return startOfWallClock + this.#elapsed + this.#jumped;
  }

  get trace(): readonly string[] {
    return this.#trace;
  }

  /** The number of actions so far. */
  get steps(): number {
    return this.#steps;
  }

  /** The first violation. */
  get violation(): Violation | undefined {
    return this.#violation;
  }

  jump(ms: number): void {
    this.#jumped += ms;
    this.note(`the wall clock jumps by ${ms} ms`);
  }

  note(line: string): void {
    this.#trace.push(`${this.#elapsed.toFixed(0).padStart(8)}  ${line}`);
  }

  /** Records a violation. Only the first counts, because later ones may be its consequences. */
  violate(rule: string, message: string): void {
    if (this.#violation !== undefined) return;
    this.#violation = { rule, message };
    this.note(`VIOLATED ${rule}: ${message}`);
  }

  /** Records a violation if the condition is false. `message` states the actual and the expected behavior. */
  expect(condition: boolean, rule: string, message: string | (() => string)): void {
    if (!condition) this.violate(rule, typeof message === 'string' ? message : message());
  }

  /** Schedules an action. Returns a function that cancels it. */
  after(ms: number, owner: ProcessOwner, what: string, act: () => void): () => void {
    this.touch();
    if (this.#gone.has(owner)) return () => {};
    const pending: ScheduledAction = { at: this.#elapsed + Math.max(0, ms), owner, what, act };
    this.#pending.push(pending);
    return () => {
      this.touch();
      const place = this.#pending.indexOf(pending);
      if (place >= 0) this.#pending.splice(place, 1);
    };
  }

  /** Returns a promise that resolves later, in the order of this world. */
  later<Value>(ms: number, owner: ProcessOwner, what: string, value: () => Value): Promise<Value> {
    return new Promise((resolve, reject) => {
      this.after(ms, owner, what, () => {
        try {
          resolve(value());
        } catch (thrown) {
          reject(thrown);
        }
      });
    });
  }

  /** Discards all scheduled and future actions of an owner. */
  forget(owner: ProcessOwner): void {
    this.#gone.add(owner);
    for (let at = this.#pending.length - 1; at >= 0; at -= 1) {
      if (this.#pending[at]?.owner === owner) this.#pending.splice(at, 1);
    }
  }

  /** Records activity: something used the world. */
  touch(): void {
    this.#signs += 1;
  }

  /** Waits until everything that takes no time has happened. */
  async rest(): Promise<void> {
    let seen = this.#signs;
    let rounds = 0;
    for (let quiet = 0; quiet < quietRounds; quiet += 1) {
      await undefined;
      rounds += 1;
      if (rounds > maxRounds) return this.violate('P2 rest', 'the run is endlessly busy');
      if (this.#signs === seen) continue;
      seen = this.#signs;
      quiet = 0;
    }
  }

  /** Runs the next action. Returns false if none is due by then. */
  async step(by: number = Number.POSITIVE_INFINITY): Promise<boolean> {
    await this.rest();
    const next = this.#next(by);
    if (next === undefined) return false;
    this.#pending.splice(this.#pending.indexOf(next), 1);
    this.#elapsed = Math.max(this.#elapsed, next.at);
    this.#steps += 1;
    this.note(`${next.owner.name}: ${next.what}`);
    this.touch();
    next.act();
    return true;
  }

  /** Advances the time and runs all actions due in it. */
  async pass(ms: number): Promise<void> {
    const end = this.#elapsed + ms;
    while (await this.step(end));
    this.#elapsed = Math.max(this.#elapsed, end);
  }

  #next(by: number): ScheduledAction | undefined {
    let earliest = Number.POSITIVE_INFINITY;
    for (const { at } of this.#pending) if (at < earliest) earliest = at;
    if (earliest > by) return undefined;
    const near = this.#pending.filter(({ at }) => at <= earliest + tieMs && at <= by);
    if (near.length < 2) return near[0];
    near.sort((left, right) => left.at - right.at);
    return this.choices.pick('order', near);
  }
}

/** Returns a promise that never settles. */
export function never<Value>(): Promise<Value> {
  return new Promise(() => {});
}
