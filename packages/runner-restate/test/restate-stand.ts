import { systemRuntime } from '@cobbler/agent';
import type { Counter, RunnerEnvironment } from '@cobbler/conformance';
import { contractWorkflow } from '@cobbler/conformance';
import type { RestateRunner } from '../src/restate-runner.ts';
import { restateRunner } from '../src/restate-runner.ts';
import type { RestateCluster } from './restate-server.ts';
import { freePort } from './restate-server.ts';

/** A counter in memory that outlives the runners that use it. */
class MemoryCounter implements Counter {
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

/** A counter for a runner that can crash: after `die`, its writes have no effect. */
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

/** Uses one engine for all cases and one service per case. A crash closes the runner. */
export function restateStand(cluster: () => RestateCluster): RunnerEnvironment {
  let services = 0;
  return {
    name: 'restate',
    lacks: {
      precise: 'a run resumes when the engine retries it, which takes a few hundred milliseconds',
      timers: 'the engine and its client use their own timers',
    },
    async place() {
      services += 1;
      const service = `contract${process.pid}x${services}`;
      const port = await freePort();
      const counter = new MemoryCounter();
      let mortal = new MortalCounter(counter);
      let runner: RestateRunner | undefined;
      const { ingress, admin } = cluster();
      return {
        counter,
        async open() {
          runner = restateRunner({ workflow: contractWorkflow(mortal), ingress, admin, service, port });
          await runner.ready();
          return runner;
        },
        async crash() {
          mortal.die();
          mortal = new MortalCounter(counter);
          await runner?.close();
        },
        stretch: 10,
        advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
        now: () => systemRuntime.now(),
        async dispose() {},
      };
    },
  };
}
