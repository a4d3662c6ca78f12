import type { Loopback } from '@cobbler/agent/testing';
import { serveLoopback } from '@cobbler/agent/testing';
import { migrations } from '@cobbler/assistant';
import type { CloudflareRunner, WorkflowBinding } from '@cobbler/assistant/cloudflare';
import { cloudflareRunner, d1Sql } from '@cobbler/assistant/cloudflare';
import type { RunnerEnvironment, RunnerInstance } from '@cobbler/conformance';
import { Lines } from './lines.ts';
import { remoteD1 } from './remote-d1.ts';
import type { Door } from './workerd.ts';
import { bundled, Workerd } from './workerd.ts';

/** Runs the contract's workflows in a real workerd that can be killed. One for all cases. */
export class RunnerStage {
  readonly lines: Lines = new Lines();
  #loopback: Loopback | undefined;
  #workerd: Workerd | undefined;

  async begin(): Promise<void> {
    this.#loopback = await serveLoopback((request) => this.lines.answer(request));
    this.#workerd = await Workerd.start({
      name: 'contract',
      script: await bundled(new URL('contract-worker.ts', import.meta.url)),
      d1Databases: { DB: 'contract' },
      workflows: { RUNS: { name: 'contract', className: 'ContractWorkflow' } },
      bindings: { COUNTER: this.#loopback.url },
    });
    const sql = d1Sql(remoteD1(this.workerd.door));
    for (const { statements } of migrations) await sql.batch(statements.map((text) => ({ text })));
  }

  get workerd(): Workerd {
    if (this.#workerd === undefined) throw new Error('workerd has not started.');
    return this.#workerd;
  }

  async end(): Promise<void> {
    await this.#workerd?.dispose();
    await this.#loopback?.close();
  }

  place(): RunnerInstance {
    let opened: CloudflareRunner | undefined;
    let isDead = false;
    const crash = async () => {
      isDead = true;
      await this.workerd.kill();
    };
    const open = async (): Promise<CloudflareRunner> => {
      // Closing stops no run here. The case needs the engine to restart, so it is killed instead.
      if (opened !== undefined && !isDead) await crash();
      if (isDead) await this.workerd.begin();
      isDead = false;
      const { door } = this.workerd;
      const runner = cloudflareRunner({
        binding: remoteWorkflow((path, body) => this.workerd.door(path, body)),
        sql: d1Sql(remoteD1(door)),
        lookMs: 30,
      });
      // Does the work of a deployed worker's timer, because the local engine continues nothing on its own.
      if (opened !== undefined) await runner.sweep(0);
      opened = runner;
      return runner;
    };
    return {
      counter: this.lines,
      open,
      crash,
      stretch: 10,
      // The case counts how often the runner polls, and the machine may be busy.
      advance: (ms) => new Promise((resolve) => setTimeout(resolve, ms * 4)),
      now: () => Date.now(),
      dispose: async () => {},
    };
  }
}

/** Returns a Workflow binding behind routes of a worker. */
function remoteWorkflow(door: Door): WorkflowBinding {
  return {
    create: (options) => door('/create', options),
    get: async (id) => ({
      status: async () => (await door('/status', { id })) as { status: string },
      sendEvent: async ({ type }) => void (await door('/event', { id, type })),
    }),
  };
}

/** Returns the environment, with the unsupported cases and the reasons. */
export function workflowsStand(stage: RunnerStage): RunnerEnvironment {
  return {
    name: 'cloudflare',
    lacks: {
      close: 'runs belong to the engine: closing a runner stops no run',
      afterlife: 'code that continues after its run ends together with the request of the engine',
      timers: 'another process has the timers',
      precise: 'the restart of an engine takes longer than the measured time',
    },
    place: () => stage.place(),
  };
}
