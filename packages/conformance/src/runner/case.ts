import type { ErrorData, Json, JsonObject } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { Runner, StartOptions } from '@cobbler/agent/runner';
import { ContractFailure, expectEqual } from '@cobbler/agent/testing';
import type { RunnerAbility, RunnerInstance } from './environment.ts';
import { markOf } from './workflows.ts';

/** A case of the runner contract before it is bound to a runner. */
export interface RunnerCase {
  readonly group: string;
  readonly name: string;
  readonly needs: readonly RunnerAbility[];
  run(setup: RunnerSetup): Promise<void>;
}

type Define = (name: string, run: RunnerCase['run']) => RunnerCase;

/** Returns a function that defines the cases of one group with these required abilities. */
export function group(name: string, ...needs: readonly RunnerAbility[]): Define {
  return (what, run) => ({ group: name, name: what, needs, run });
}

/** The interval in which a condition is checked, in milliseconds, and the maximum number of checks. */
const stride = 20;
const looks = 400;

/** The environment of a case. Runs have short names; their ids are unique across cases. */
export class RunnerSetup {
  readonly place: RunnerInstance;
  readonly #prefix: string;
  #runner: Runner;

  constructor(place: RunnerInstance, runner: Runner, prefix: string) {
    this.place = place;
    this.#runner = runner;
    this.#prefix = prefix;
  }

  get runner(): Runner {
    return this.#runner;
  }

  id(run: string): string {
    return `${this.#prefix}-${run}`;
  }

  start(run: string, input: JsonObject, options: Omit<StartOptions, 'runId'> = {}): Promise<boolean> {
    const { key, ...rest } = options;
    const own = key === undefined ? rest : { ...rest, key: this.id(key) };
    return this.soon(`the start of ${run}`, this.#runner.start(input, { ...own, runId: this.id(run) }));
  }

  signal(run: string, name: string, value: Json = null): Promise<boolean> {
    return this.soon(`the signal ${name}`, this.#runner.signal(this.id(run), name, value));
  }

  cancel(run: string): Promise<boolean> {
    return this.soon(`the cancellation of ${run}`, this.#runner.cancel(this.id(run)));
  }

  async state(run: string): Promise<string> {
    return (await this.soon('a status', this.#runner.status(this.id(run)))).state;
  }

  /** Returns the output of a run when it has ended. */
  result(run: string): Promise<Json> {
    return this.soon(`the result of ${run}`, this.#runner.result(this.id(run)));
  }

  /** Returns the error with which the run failed. */
  async failure(run: string): Promise<ErrorData> {
    return await this.refusal(() => this.#runner.result(this.id(run)), `the result of ${run}`);
  }

  /** Returns the AgentError that a call throws. */
  async refusal(work: () => Promise<unknown>, what: string): Promise<ErrorData> {
    let value: unknown;
    try {
      value = await this.soon(what, work());
    } catch (thrown) {
      if (AgentError.is(thrown)) return thrown.toJSON();
      throw new ContractFailure(`${what}: expected an AgentError, found ${String(thrown)}`);
    }
    throw new ContractFailure(`${what}: expected an error, found ${JSON.stringify(value) ?? 'undefined'}`);
  }

  /** Returns the lines of a run's mark. */
  lines(run: string, mark: string): Promise<readonly string[]> {
    return this.place.counter.list(markOf(this.id(run), mark));
  }

  /** Adds a line to a run's mark, for which its workflow may wait. */
  async leave(run: string, mark: string): Promise<void> {
    await this.place.counter.add(markOf(this.id(run), mark), '');
  }

  async expectLines(run: string, mark: string, count: number): Promise<void> {
    expectEqual((await this.lines(run, mark)).length, count, `the number of ${mark} lines of ${run}`);
  }

  /** Returns the length of a sleep that does not end before the case continues, even if the machine is busy. */
  stretched(ms: number): number {
    return ms * (this.place.stretch ?? 1);
  }

  /** Lets time pass until a run's mark has this many lines. */
  untilReached(run: string, mark: string, count = 1): Promise<void> {
    return this.until(`${run} reaches ${mark}`, async () => (await this.lines(run, mark)).length >= count);
  }

  async until(what: string, holds: () => Promise<boolean> | boolean): Promise<void> {
    for (let look = 0; look < looks; look += 1) {
      if (await holds()) return;
      await this.place.advance(stride);
    }
    throw new ContractFailure(`${what}: not reached in time`);
  }

  /** Lets time pass until a promise settles. */
  async soon<Value>(what: string, promise: Promise<Value>): Promise<Value> {
    let isSettled = false;
    const settle = () => {
      isSettled = true;
    };
    promise.then(settle, settle);
    // An already settled promise takes no time.
    await Promise.race([promise.then(settle, settle), this.place.advance(0)]);
    if (!isSettled) await this.until(`${what} settles`, () => isSettled);
    return await promise;
  }

  /** Closes and reopens the runner. `between` runs while it is closed. */
  async reopen(between: () => Promise<void> = async () => {}): Promise<void> {
    await this.soon('closing the runner', this.#runner.close());
    await between();
    this.#runner = await this.place.open();
  }

  async crash(between: () => Promise<void> = async () => {}): Promise<void> {
    await this.place.crash?.();
    await between();
    this.#runner = await this.place.open();
  }
}
