import type { Event, RunEvent } from '../events/event.ts';
import { isStored } from '../events/event.ts';
import { Executor } from '../loop/executor.ts';
import type { ExecutorOptions, ResumeOptions, RunOptions } from '../run/options.ts';
import type { Prompt } from '../run/prompt.ts';
import type { Run, RunResult } from '../run/run.ts';
import type { Store } from '../store/store.ts';
import type { Runtime } from '../values/runtime.ts';
import { systemRuntime } from '../values/runtime.ts';
import { ContractFailure, expect } from './assertion.ts';
import type { Watched } from './check-run.ts';
import { checkRun } from './check-run.ts';
import type { FakeRuntime } from './fake-runtime.ts';
import { fakeRuntime } from './fake-runtime.ts';

/**
 * Number of rounds of promise callbacks without use of the runtime after which nothing more happens without a timer.
 */
const quietRounds = 120;

/** Number of clock advances after which a case counts as one that never ends. */
const maxMoves = 5_000;

/** Wraps a store to add faults. */
export type Spoil = (store: Store, runtime: Runtime) => Store;

/**
 * The environment of one test case: a clock that advances only when nothing else can happen, a store, and every run
 * that was started, so that the invariants of runs are checked for all of them.
 */
export class RunFixture {
  readonly runtime: Runtime;
  /** The store that the runs use. */
  readonly store: Store;
  /** The store under test, without added faults. */
  readonly healthy: Store;
  readonly #clock: FakeRuntime = fakeRuntime();
  readonly #due = new Map<object, number>();
  readonly #watched: Watched[] = [];
  #uses = 0;
  #storing = 0;

  /** @param spoil adds faults to the store under test. */
  constructor(makeStore: (runtime: Runtime) => Store, spoil: Spoil = (store) => store) {
    this.runtime = this.#watchedRuntime();
    this.healthy = this.#watchedStore(makeStore(this.runtime));
    this.store = spoil(this.healthy, this.runtime);
  }

  /** Starts a run and records its events. */
  run<Output = unknown>(
    options: ExecutorOptions,
    prompt: Prompt = 'Go.',
    rest: RunOptions<Output> = {},
  ): Run<Output> {
    const executor = this.executor(options);
    return this.#watch(rest, (watching) => executor.run<Output>(prompt, watching));
  }

  /** Resumes a session and records the events of the run. */
  resume<Output = unknown>(
    options: ExecutorOptions,
    sessionId: string,
    rest: ResumeOptions<Output> = {},
  ): Run<Output> {
    const executor = this.executor(options);
    return this.#watch(rest, (watching) => executor.resume<Output>(sessionId, watching));
  }

  executor(options: ExecutorOptions): Executor {
    return new Executor({ runtime: this.runtime, store: this.store, ...options });
  }

  /** Runs to the end and returns the result. */
  async play<Output = unknown>(
    options: ExecutorOptions,
    prompt: Prompt = 'Go.',
    rest: RunOptions<Output> = {},
  ): Promise<RunResult<Output>> {
    return await this.until(this.run(options, prompt, rest).result);
  }

  /** Returns the events of a run so far. */
  eventsOf(run: Run): readonly RunEvent[] {
    return this.#watched.find((watched) => watched.run === run)?.events ?? [];
  }

  /** Returns the stored events of a run so far. */
  storedOf(run: Run): readonly Event[] {
    return this.eventsOf(run).filter(isStored);
  }

  /** Milliseconds since the start of the case. */
  get elapsed(): number {
    return this.#clock.monotonic();
  }

  /** Number of pending timers. */
  get timers(): number {
    return this.#clock.timers;
  }

  /** Waits for a promise. Time advances only if nothing else can happen. */
  async until<Value>(pending: PromiseLike<Value>): Promise<Value> {
    let settled = false;
    const note = () => {
      settled = true;
    };
    pending.then(note, note);
    for (let moves = 0; moves < maxMoves; moves += 1) {
      await this.rest(() => settled);
      if (settled) return await pending;
      const next = Math.min(...this.#due.values());
      expect(Number.isFinite(next), 'an end, but nothing is left to do');
      await this.#clock.advance(Math.max(0, next - this.elapsed));
    }
    throw new ContractFailure(`expected an end within ${maxMoves} clock advances`);
  }

  /** Lets everything happen that needs no timer. */
  async rest(isOver: () => boolean = () => false): Promise<void> {
    for (let quiet = 0; !isOver(); ) {
      if (quiet >= quietRounds && this.#storing === 0) return;
      const before = this.#uses;
      // A real store responds in real time, which the fake clock does not show.
      await (quiet >= quietRounds ? realMoment() : undefined);
      quiet = this.#uses === before ? quiet + 1 : 0;
    }
  }

  /** Advances the clock and lets everything happen in the meantime. */
  async advance(ms: number): Promise<void> {
    await this.rest();
    const end = this.elapsed + ms;
    for (;;) {
      const next = Math.min(...this.#due.values());
      if (next > end) break;
      await this.#clock.advance(Math.max(0, next - this.elapsed));
      await this.rest();
    }
    await this.#clock.advance(end - this.elapsed);
    await this.rest();
  }

  /** Checks the invariants of every run, however it ended. */
  async check(): Promise<void> {
    for (const watched of this.#watched) await this.until(checkRun(watched, this.healthy));
    await this.rest();
    expect(this.timers === 0, `no timer left behind, found ${this.timers}`);
  }

  #watch<Output, Options extends RunOptions<Output>>(
    options: Options,
    start: (options: Options) => Run<Output>,
  ): Run<Output> {
    const events: RunEvent[] = [];
    const onEvent = (event: RunEvent) => {
      events.push(event);
      options.onEvent?.(event);
    };
    const run = start({ ...options, onEvent });
    const read = readAll(run);
    this.#watched.push({ run: run as Run, events, read });
    return run;
  }

  #watchedRuntime(): Runtime {
    const clock = this.#clock;
    const due = this.#due;
    const use = <Value>(value: Value): Value => {
      this.#uses += 1;
      return value;
    };
    return {
      now: () => use(clock.now()),
      monotonic: () => use(clock.monotonic()),
      timer(ms, fire) {
        const key = {};
        due.set(use(key), clock.monotonic() + Math.max(0, ms));
        const cancel = clock.timer(ms, () => {
          due.delete(use(key));
          fire();
        });
        return () => {
          due.delete(use(key));
          cancel();
        };
      },
      random: () => use(clock.random()),
      id: () => use(clock.id()),
      digest: (text) => Promise.resolve(use(checksum(text))),
      fetch: clock.fetch,
    };
  }

  /** Wraps a store to count its pending operations. */
  #watchedStore(store: Store): Store {
    return {
      claim: (sessionId, origin) => this.#trackStoring(store.claim(sessionId, origin)),
      append: (sessionId, events, writer) => this.#trackStoring(store.append(sessionId, events, writer)),
      read: (sessionId, afterSeq, limit) => this.#trackStoring(store.read(sessionId, afterSeq, limit)),
      sessions: () => store.sessions(),
      snapshot: (sessionId) => this.#trackStoring(store.snapshot?.(sessionId)),
      keepSnapshot: (sessionId, state, writer) => store.keepSnapshot?.(sessionId, state, writer),
    };
  }

  #trackStoring<Value>(answer: Value | Promise<Value>): Value | Promise<Value> {
    if (!(answer instanceof Promise)) return answer;
    this.#storing += 1;
    return answer.finally(() => {
      this.#storing -= 1;
    });
  }
}

async function readAll(run: AsyncIterable<RunEvent>): Promise<RunEvent[]> {
  const events: RunEvent[] = [];
  for await (const event of run) events.push(event);
  return events;
}

function realMoment(): Promise<void> {
  return new Promise((resolve) => void systemRuntime.timer(0, resolve));
}

/** Returns a substitute for a digest, because a real one takes real time. */
function checksum(text: string): string {
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193) >>> 0;
  return `${sum.toString(16).padStart(8, '0')}-${text.length}`;
}
