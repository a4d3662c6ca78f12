import { systemRuntime } from '@cobbler/agent';
import type { Runner } from '@cobbler/agent/runner';
import type { Counter, RunnerEnvironment } from '@cobbler/conformance';
import { contractWorkflow } from '@cobbler/conformance';
import { postgresRunner } from '../src/runner.ts';
import type { PostgresServer } from './postgres-server.ts';
import { missingPostgres, startPostgres } from './postgres-server.ts';
import { startProxy } from './proxy.ts';

/** A counter in memory. After a crash, its runner adds no more lines. */
class Lines implements Counter {
  readonly #lines: Map<string, string[]>;
  isDead = false;

  constructor(lines: Map<string, string[]>) {
    this.#lines = lines;
  }

  async add(name: string, text: string): Promise<number> {
    if (this.isDead) return await new Promise(() => {});
    const lines = this.#lines.get(name) ?? [];
    this.#lines.set(name, lines);
    return lines.push(text);
  }

  async list(name: string): Promise<readonly string[]> {
    return [...(this.#lines.get(name) ?? [])];
  }

  async reached(name: string): Promise<void> {
    while (this.isDead || !this.#lines.has(name)) await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

let places = 0;

/** Uses one schema per case. A crash cuts the runner's connections, so that its lease expires. */
function postgresStand(start: () => Promise<PostgresServer>): RunnerEnvironment {
  return {
    name: 'postgres',
    lacks: {
      precise: 'a lease has to end first',
      timers: 'the connections have some of their own',
    },
    async place() {
      const server = await start();
      places += 1;
      const schema = `runs_${process.pid}_${places}`;
      const kept = new Map<string, string[]>();
      const lines = new Lines(kept);
      const proxies: Awaited<ReturnType<typeof startProxy>>[] = [];
      let mortal = new Lines(kept);
      let runner: Runner | undefined;
      return {
        counter: lines,
        async open() {
          const proxy = await startProxy(server.port);
          proxies.push(proxy);
          const url = server.url.replace(`:${server.port}/`, `:${proxy.port}/`);
          const workflow = contractWorkflow(mortal);
          runner = postgresRunner({ workflow, url, schema, leaseMs: 1500, lookMs: 20, busyMs: 500 });
          return runner;
        },
        async crash() {
          mortal.isDead = true;
          mortal = new Lines(kept);
          proxies.at(-1)?.cut();
          void runner?.close();
        },
        stretch: 10,
        advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
        now: () => systemRuntime.now(),
        async dispose() {
          for (const proxy of proxies) await proxy.close();
        },
      };
    },
  };
}

/** Returns the subject of the runner contract, whose server starts with the first case. */
export function postgresRunnerOnDemand(): {
  readonly subject: RunnerEnvironment;
  /** The reason why the server cannot start here, and how to install what is missing. */
  readonly missing: string | undefined;
  stop(): Promise<void>;
} {
  let started: Promise<PostgresServer> | undefined;
  return {
    missing: missingPostgres(),
    subject: postgresStand(() => {
      started ??= startPostgres();
      return started;
    }),
    stop: async () => (await started?.catch(() => undefined))?.stop(),
  };
}
