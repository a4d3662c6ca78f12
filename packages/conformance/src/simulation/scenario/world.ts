import type { Choices } from './choices.ts';

/** Whose things end when its process ends. */
export interface ProcessOwner {
  readonly name: string;
}

/** Something that a run must never do. */
export interface Violation {
  /** Which promise or invariant, such as `P9 once`: what stays the same while a trace is shrunk. */
  readonly rule: string;
  readonly message: string;
}

interface ScheduledAction {
  /** When it is due, on the monotonic clock. */
  readonly at: number;
  readonly owner: ProcessOwner;
  readonly what: string;
  readonly act: () => void;
}

/** What is due within so many milliseconds may come in any order: no clock and no network is exact. */
const tieMs = 1;

/** Rounds of promise reactions without any sign of life after which nothing more happens by itself. */
const quietRounds = 50;

/** Rounds with signs of life after which nothing will ever come to rest; a busy run takes some hundred. */
const maxRounds = 20_000;

const startOfWallClock = 1_767_225_600_000;

/**
 * Time, order and what is noticed: what every part of a simulation stands on. Nothing happens at its own time:
 * whatever would take time is put here and comes when the world lets it.
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

  /** Milliseconds since the beginning; never goes back. */
  get elapsed(): number {
    return this.#elapsed;
  }

  /** The wall clock, which people and time servers set as they like. */
  get wallClock(): number {
    return startOfWallClock + this.#elapsed + this.#jumped;
  }

  get trace(): readonly string[] {
    return this.#trace;
  }

  /** How many things have happened. */
  get steps(): number {
    return this.#steps;
  }

  /** The first thing that went wrong. */
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

  /** Notes that something went wrong. Only the first counts: what follows may follow from it. */
  violate(rule: string, message: string): void {
    if (this.#violation !== undefined) return;
    this.#violation = { rule, message };
    this.note(`VIOLATED ${rule}: ${message}`);
  }

  /** Notes a violation unless the condition holds. `message` says what was expected and found. */
  expect(condition: boolean, rule: string, message: string | (() => string)): void {
    if (!condition) this.violate(rule, typeof message === 'string' ? message : message());
  }

  /** Has something happen later. Returns a function that takes it back. */
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

  /** A promise that resolves later, by the order of this world. */
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

  /** Its owner is gone: whatever it still had before it, or means to have, never happens. */
  forget(owner: ProcessOwner): void {
    this.#gone.add(owner);
    for (let at = this.#pending.length - 1; at >= 0; at -= 1) {
      if (this.#pending[at]?.owner === owner) this.#pending.splice(at, 1);
    }
  }

  /** A sign of life: something touched the world. */
  touch(): void {
    this.#signs += 1;
  }

  /** Lets everything happen that needs no time. */
  async rest(): Promise<void> {
    let seen = this.#signs;
    let rounds = 0;
    for (let quiet = 0; quiet < quietRounds; quiet += 1) {
      await undefined;
      rounds += 1;
      if (rounds > maxRounds) return this.violate('P2 rest', 'the run is busy for ever with itself');
      if (this.#signs === seen) continue;
      seen = this.#signs;
      quiet = 0;
    }
  }

  /** Lets the next thing happen. False when nothing is due by then. */
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

  /** Lets time pass, and all that is due in it happen. */
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

/** What nobody will ever settle. */
export function never<Value>(): Promise<Value> {
  return new Promise(() => {});
}
