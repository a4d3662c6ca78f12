import { describe, expect, it } from 'vitest';
import type { Agent } from '../../src/interfaces/agent.ts';
import type { Amounts } from '../../src/interfaces/amounts.ts';
import { noAmounts } from '../../src/interfaces/amounts.ts';
import type { Pricing } from '../../src/interfaces/limits.ts';
import type { Tool } from '../../src/interfaces/tool.ts';
import { defineTool } from '../../src/interfaces/tool.ts';
import { Executor } from '../../src/loop/executor.ts';
import { BudgetClient } from '../../src/store/budgets/budget-client.ts';
import type { BudgetStore } from '../../src/store/budgets/budget-store.ts';
import { memoryBudgets } from '../../src/store/budgets/memory-budgets.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import type { ModelStep } from '../../src/testing/scripted-model.ts';
import { calls, failedResponse, scriptedModel, textResponse } from '../../src/testing/scripted-model.ts';
import { AgentError } from '../../src/values/errors.ts';
import { systemRuntime } from '../../src/values/runtime.ts';

const pricing: Pricing = () => ({ input: 1, output: 10 });
const usage = { inputTokens: 4000, outputTokens: 1000 };
const used: Amounts = { tokens: 5000, usd: 0.014, requests: 1 };

async function budgetOf(
  limits: Partial<Amounts>,
  change: (store: BudgetStore) => BudgetStore = (store) => store,
) {
  const store = change(memoryBudgets());
  await store.define({ name: 'company', limits });
  await store.define({ name: 'user:42', parent: 'company', limits: {} });
  // Every wait ends at once.
  const timer: typeof systemRuntime.timer = (_ms, fire) => systemRuntime.timer(0, fire);
  const client = new BudgetClient({ store, runtime: { ...systemRuntime, timer } });
  const balance = async () => {
    await client.flush();
    const [{ settled, reserved } = { settled: noAmounts, reserved: noAmounts }] = await store.balances([
      'company',
    ]);
    return { settled, reserved };
  };
  return { store, client, balance };
}

/** Returns a store with other methods. */
function changed(store: BudgetStore, methods: Partial<BudgetStore>): BudgetStore {
  return new Proxy(store, {
    get(target, name) {
      const value = Reflect.get(methods, name) ?? Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

describe('a run with a budget of a store', () => {
  it('settles every request there, and reserves no more than it needs', async () => {
    const { client, balance } = await budgetOf({ usd: 1 });
    const agent = scriptedModel([calls(['none'], { usage }), textResponse('Done.', { usage })]);
    const budget = await client.budget('user:42');
    const result = await new Executor({ agent, pricing }).run('Go.', { budget });
    expect(result.status).toBe('complete');
    expect(await balance()).toEqual({
      settled: { tokens: 10_000, usd: expect.closeTo(0.028, 9), requests: 2 },
      reserved: noAmounts,
    });
  });

  it('ends with a limit if the budget leaves too little', async () => {
    const { client } = await budgetOf({ requests: 1 });
    const agent = scriptedModel([calls(['none'], { usage }), textResponse('Done.', { usage })]);
    const budget = await client.budget('user:42');
    const result = await new Executor({ agent, pricing }).run('Go.', { budget });
    expect([result.status, result.limit, agent.requests.length]).toEqual(['limit', 'turns', 1]);
    expect(result.error?.message).toContain('"company"');
  });

  it('counts the requests of sub-agents in a budget per run', async () => {
    const { store, client } = await budgetOf({});
    await store.define({ name: 'each', parent: 'company', per: 'run', limits: { requests: 2 } });
    const child = new Executor({
      agent: scriptedModel([textResponse('Dry.'), textResponse('Dry.')]),
      pricing,
    });
    const tools = [child.asTool({ name: 'look', description: 'Looks.' })];
    const look = calls([{ name: 'look', arguments: { prompt: 'Look.' } }]);
    const executor = new Executor({ agent: scriptedModel([look, look]), tools, pricing });
    const budget = await client.budget('each');
    for (const run of [1, 2]) {
      const { status, metrics } = await executor.run(`Run ${run}.`, { budget });
      expect([status, metrics.invocations]).toEqual(['limit', 2]);
    }
    await client.flush();
    const [total] = await store.balances(['company']);
    expect(total?.settled.requests).toBe(4);
  });

  it('shortens the response to what the budget leaves', async () => {
    const { client } = await budgetOf({ usd: 0.1 });
    const agent = scriptedModel([textResponse('Hello.', { usage })]);
    const budget = await client.budget('user:42');
    await new Executor({ agent, pricing }).run('Go.', { budget });
    const maxTokens = agent.requests[0]?.config?.maxTokens ?? 0;
    expect(maxTokens > 9_000 && maxTokens < 10_000).toBe(true);
  });

  it('charges a failed request with what it used', async () => {
    const { client, balance } = await budgetOf({ usd: 1 });
    const error = new AgentError({ kind: 'network', message: 'cut', wasted: usage });
    const budget = await client.budget('user:42');
    await new Executor({ agent: scriptedModel([failedResponse(error)]), pricing }).run('Go.', { budget });
    expect(await balance()).toEqual({ settled: used, reserved: noAmounts });
  });

  it('releases everything if it is cancelled while it waits for room', async () => {
    const { store, client, balance } = await budgetOf({ requests: 1 });
    const other = { id: 'other', budget: 'company', sessionId: 's', runId: 'r' };
    await store.reserve({
      ...other,
      wanted: { ...noAmounts, requests: 1 },
      least: { ...noAmounts, requests: 1 },
    });
    const budget = await client.budget('user:42');
    const agent = scriptedModel([textResponse('Hello.', { usage })]);
    const run = new Executor({ agent, pricing }).run('Go.', { budget });
    setImmediate(() => run.cancel());
    expect((await run.result).status).toBe('cancelled');
    await store.settle('other', noAmounts);
    expect([await balance(), agent.requests.length]).toEqual([
      { settled: noAmounts, reserved: noAmounts },
      0,
    ]);
  });

  it('settles again if the store could not be reached', async () => {
    let failures = 3;
    const { client, balance } = await budgetOf({ usd: 1 }, (store) =>
      changed(store, {
        settle: (id: string, amounts: Amounts) => {
          failures -= 1;
          if (failures >= 0) throw new Error('The network is down.');
          return store.settle(id, amounts);
        },
      }),
    );
    const budget = await client.budget('user:42');
    await new Executor({ agent: scriptedModel([textResponse('Hi.', { usage })]), pricing }).run('Go.', {
      budget,
    });
    expect(await balance()).toEqual({ settled: used, reserved: noAmounts });
  });

  it('settles what a crashed process had reserved with what the log shows: each attempt was sent and is a request', async () => {
    const { store, client, balance } = await budgetOf({ usd: 9 });
    const sessions = memoryStore();
    const agent = scriptedModel(['One.', 'Two.', 'Three.'].map((text) => textResponse(text, { usage })));
    const executor = new Executor({ agent, pricing, store: sessions });
    await executor.run('Go.', { sessionId: 's' });
    const wanted = { tokens: 50_000, usd: 0.5, requests: 1 };
    const reserve = (id: string) =>
      store.reserve({ id, budget: 'user:42', sessionId: 's', runId: 'r', wanted, least: wanted });
    // The log contains the response to the request that followed event 1, and none after event 3.
    await reserve('a:after:1');
    await reserve('a:after:1:1');
    await reserve('b:after:3');
    await reserve('of-a-caller');
    await executor.run('Again.', { sessionId: 's', budget: await client.budget('user:42') });
    const { settled, reserved } = await balance();
    expect(settled).toEqual({ tokens: 10_000, usd: expect.closeTo(0.028, 9), requests: 3 });
    expect(reserved).toEqual({ tokens: 100_000, usd: 1, requests: 2 });
    // The next response is not that of the request which was lost.
    await executor.run('And again.', { sessionId: 's', budget: await client.budget('user:42') });
    expect((await balance()).reserved).toEqual(reserved);
  });

  it('counts the attempts of a request in the same way if its process crashed before it settled them', async () => {
    const steps: ModelStep[] = [
      async (_request, { mayRetry }) => {
        await mayRetry?.({ inputTokens: 1000, outputTokens: 0 });
        return textResponse('Done.', { usage, wasted: { inputTokens: 1000, outputTokens: 0 }, attempts: 2 });
      },
      failedResponse(new AgentError({ kind: 'network', message: 'The service cannot be reached.' })),
    ];
    const balances: unknown[] = [];
    for (const settle of [
      undefined,
      () => Promise.reject(new AgentError({ kind: 'invalid', message: '' })),
    ]) {
      const { store, client, balance } = await budgetOf({ usd: 9 });
      const first = new BudgetClient({ store: changed(store, settle === undefined ? {} : { settle }) });
      const sessions = memoryStore();
      const executor = new Executor({ agent: scriptedModel([...steps]), pricing, store: sessions });
      for (const prompt of ['One.', 'Two.'])
        await executor.run(prompt, { sessionId: 's', budget: await first.budget('user:42') });
      await first.flush();
      const agent = scriptedModel([textResponse('Three.', { usage })]);
      const last = new Executor({ agent, pricing, store: sessions });
      await last.run('Three.', { sessionId: 's', budget: await client.budget('user:42') });
      balances.push(await balance());
    }
    expect(balances[0]).toMatchObject({ settled: { tokens: 11_000, requests: 3 }, reserved: noAmounts });
    expect(balances[1]).toEqual(balances[0]);
  });

  it('settles what sub-agents had reserved with what the log of the run shows', async () => {
    // A process that crashes before it settles anything, during the second request of a helper of a helper.
    const { store, client, balance } = await budgetOf({ usd: 9 });
    const crashing = new BudgetClient({ store: changed(store, { settle: () => new Promise(() => {}) }) });
    const sessions = memoryStore();
    const helper = (agent: Agent, tools: Tool[] = []) =>
      new Executor({ agent, pricing, tools }).asTool({ name: 'helper', description: 'Helps.' });
    const call = calls([{ name: 'helper', arguments: { prompt: 'Help.' } }], { usage });
    const asked = Promise.withResolvers<void>();
    const endless: ModelStep = () => {
      asked.resolve();
      return new Promise(() => {});
    };
    const look = defineTool({ name: 'look', description: 'Looks.', parameters: {}, execute: () => 'seen' });
    const inner = helper(scriptedModel([calls(['look'], { usage }), endless]), [look]);
    const middle = helper(scriptedModel([call]), [inner]);
    const options = { agent: scriptedModel([call]), pricing, store: sessions, tools: [middle] };
    void new Executor(options).run('Go.', { sessionId: 's', budget: await crashing.budget('user:42') });
    await asked.promise;
    expect((await store.balances(['company']))[0]?.reserved.requests).toBe(4);

    const agent = scriptedModel([textResponse('Stopped.', { usage })]);
    const budget = await client.budget('user:42');
    await new Executor({ ...options, agent }).resume('s', { budget });
    const { settled, reserved } = await balance();
    expect(settled).toEqual({ tokens: 20_000, usd: expect.closeTo(0.056, 9), requests: 4 });
    // Nobody knows the outcome of the last request.
    expect(reserved.requests).toBe(1);
    expect(await store.unsettled('s')).toMatchObject([{ amounts: reserved }]);
  });

  it('settles what a tool had reserved without a description of its request', async () => {
    const { store, client, balance } = await budgetOf({ usd: 9 });
    const crashing = new BudgetClient({ store: changed(store, { settle: () => new Promise(() => {}) }) });
    const settled = Promise.withResolvers<void>();
    const look = defineTool({
      ...{ name: 'look', description: 'Looks.', parameters: {} },
      execute: (_, { budget }) => {
        const wanted = { tokens: 50_000, usd: 0.5 };
        budget.hold({ wanted, least: wanted, sessionId: 'x', runId: 'x', seq: 0 }, (outcome) => {
          if (!AgentError.is(outcome)) outcome.settle(5_000, 0.014);
          settled.resolve();
        });
        return new Promise(() => {});
      },
    });
    const options = { pricing, store: memoryStore(), tools: [look] };
    const first = new Executor({ ...options, agent: scriptedModel([calls(['look'], { usage })]) });
    void first.run('Go.', { sessionId: 's', budget: await crashing.budget('user:42') });
    await settled.promise;
    const second = new Executor({ ...options, agent: scriptedModel([textResponse('Done.', { usage })]) });
    await second.resume('s', { budget: await client.budget('user:42') });
    expect(await balance()).toEqual({
      settled: { tokens: 15_000, usd: expect.closeTo(0.042, 9), requests: 3 },
      reserved: noAmounts,
    });
  });

  it('charges what has no reservation, even if the limit is exceeded already', async () => {
    const { client, balance } = await budgetOf({ usd: 0.02 });
    const budget = await client.budget('user:42');
    budget.spend(1000, 0.03);
    await client.flush();
    budget.reserve(0, 0).settle(1000, 0.03);
    expect(await balance()).toEqual({
      settled: { tokens: 2000, usd: 0.06, requests: 2 },
      reserved: noAmounts,
    });
  });

  it('is refused for a name that is not defined', async () => {
    const { client } = await budgetOf({});
    await expect(client.budget('nobody')).rejects.toMatchObject({ kind: 'invalid', code: 'no_budget' });
  });
});
