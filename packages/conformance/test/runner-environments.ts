import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Runner } from '@cobbler/agent/runner';
import { memoryRunner } from '@cobbler/agent/runner';
import { sqliteRunner } from '@cobbler/agent/sqlite-runner';
import type { FakeRuntime } from '@cobbler/agent/testing';
import { fakeRuntime } from '@cobbler/agent/testing';
import type { Counter, RunnerEnvironment } from '../src/runner/environment.ts';
import { contractWorkflow } from '../src/runner/workflows.ts';

/** A counter in memory, which survives the runners that write to it. */
export class MemoryCounter implements Counter {
  readonly #lines = new Map<string, string[]>();
  readonly #waiting = new Map<string, (() => void)[]>();

  async add(name: string, text: string): Promise<number> {
    const lines = this.#lines.get(name) ?? [];
    this.#lines.set(name, lines);
    for (const wake of this.#waiting.get(name) ?? []) wake();
    this.#waiting.delete(name);
    return lines.push(text);
  }

  async list(name: string): Promise<readonly string[]> {
    return [...(this.#lines.get(name) ?? [])];
  }

  reached(name: string): Promise<void> {
    if (this.#lines.has(name)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.set(name, [...(this.#waiting.get(name) ?? []), resolve]));
  }
}

/** Wraps a counter for a process that can be killed: afterwards, its calls never resolve. */
class MortalCounter implements Counter {
  readonly #counter: Counter;
  #isDead = false;

  constructor(counter: Counter) {
    this.#counter = counter;
  }

  die(): void {
    this.#isDead = true;
  }

  add(name: string, text: string): Promise<number> {
    return this.#isDead ? new Promise(() => {}) : this.#counter.add(name, text);
  }

  list(name: string): Promise<readonly string[]> {
    return this.#counter.list(name);
  }

  async reached(name: string): Promise<void> {
    await this.#counter.reached(name);
    if (this.#isDead) await new Promise(() => {});
  }
}

/** Returns a runtime with immediate digests whose clock advances only on `advance`. */
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
    /** Advances the clock and lets file writes complete. */
    async advance(ms: number): Promise<void> {
      for (let round = 0; round < 4; round += 1) await new Promise((resolve) => setImmediate(resolve));
      await clock.advance(ms);
      for (let round = 0; round < 4; round += 1) await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

const forgets = 'the runs are only in memory';

export const memoryStand: RunnerEnvironment = {
  name: 'memory',
  lacks: { reopen: forgets, crash: forgets },
  place() {
    const runtime = stillRuntime();
    const counter = new MemoryCounter();
    return {
      counter,
      open: async () => memoryRunner({ workflow: contractWorkflow(counter), runtime }),
      advance: runtime.advance,
      now: runtime.now,
      timers: () => runtime.timers,
      async dispose() {},
    };
  },
};

/** Simulates a crash by continuing with a copy of the files at that moment. */
export const sqliteStand: RunnerEnvironment = {
  name: 'sqlite',
  lacks: {},
  place() {
    const runtime = stillRuntime();
    const folder = mkdtempSync(join(tmpdir(), 'cobbler-runner-'));
    const counter = new MemoryCounter();
    let lives = 0;
    let mortal = new MortalCounter(counter);
    let runner: Runner | undefined;
    const file = () => join(folder, String(lives), 'runs.db');
    return {
      counter,
      async open() {
        runner = sqliteRunner({ file: file(), workflow: contractWorkflow(mortal), runtime });
        return runner;
      },
      async crash() {
        mortal.die();
        mortal = new MortalCounter(counter);
        const left = file();
        lives += 1;
        mkdirSync(join(folder, String(lives)));
        for (const suffix of ['', '-wal', '-made'])
          if (existsSync(left + suffix)) copyFileSync(left + suffix, file() + suffix);
        await runner?.close();
      },
      advance: runtime.advance,
      now: runtime.now,
      timers: () => runtime.timers,
      async dispose() {
        rmSync(folder, { recursive: true, force: true });
      },
    };
  },
};
