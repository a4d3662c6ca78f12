import { WorkflowEntrypoint } from 'cloudflare:workers';
import type { D1, WorkflowBinding, WorkflowParams, WorkflowStep } from '@cobbler/assistant/cloudflare';
import { d1Sql, runWorkflow } from '@cobbler/assistant/cloudflare';
import type { Counter } from '@cobbler/conformance';
import { contractWorkflow } from '@cobbler/conformance';
import type { RemoteStatement } from './remote-d1.ts';

/** The bindings of the worker that runs the contract. Routes of the worker give tests access to them. */
interface Env {
  readonly DB: D1;
  readonly RUNS: WorkflowBinding;
  readonly COUNTER: string;
}

export class ContractWorkflow extends WorkflowEntrypoint<Env> {
  async run({ payload }: { readonly payload: WorkflowParams }, step: WorkflowStep): Promise<void> {
    const { DB, RUNS, COUNTER } = this.env;
    await runWorkflow({
      params: payload,
      step,
      workflow: contractWorkflow(counterAt(COUNTER)),
      sql: d1Sql(DB),
      binding: RUNS,
      lookMs: 40,
      // Polling must not find anything, so that only wake events can continue a run.
      pollMs: 120_000,
    });
  }
}

/** Returns a counter that is kept outside of the engine and outlives it. */
function counterAt(url: string): Counter {
  const ask = async (body: object): Promise<unknown> =>
    await (await fetch(url, { method: 'POST', body: JSON.stringify(body) })).json();
  const list = async (name: string) => (await ask({ list: name })) as readonly string[];
  return {
    add: async (name, text) => (await ask({ add: name, text })) as number,
    list,
    async reached(name) {
      while ((await list(name)).length === 0) await new Promise((resolve) => setTimeout(resolve, 15));
    },
  };
}

const doors: Readonly<Record<string, (env: Env, given: never) => Promise<unknown>>> = {
  '/d1': async ({ DB }, statements: readonly RemoteStatement[]) =>
    await DB.batch(statements.map(({ text, values }) => DB.prepare(text).bind(...values.map(received)))),
  '/create': async ({ RUNS }, options: Parameters<WorkflowBinding['create']>[0]) => {
    await RUNS.create(options);
    return null;
  },
  '/status': async ({ RUNS }, { id }: { readonly id: string }) => {
    const { status } = await (await RUNS.get(id)).status();
    return { status };
  },
  '/event': async ({ RUNS }, { id, type }: { readonly id: string; readonly type: string }) => {
    await (await RUNS.get(id)).sendEvent({ type, payload: null });
    return null;
  },
};

function received(value: unknown): unknown {
  const isBytes =
    typeof value === 'object' && value !== null && 'bytes' in value && Array.isArray(value.bytes);
  return isBytes ? new Uint8Array(value.bytes as number[]).buffer : value;
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const door = doors[new URL(request.url).pathname];
    if (door === undefined) return new Response('no such route', { status: 404 });
    try {
      return Response.json((await door(env, (await request.json()) as never)) ?? null);
    } catch (error) {
      return new Response(error instanceof Error ? error.message : String(error), { status: 500 });
    }
  },
};
