// Performs scenarios one after another: runs that share a limit in a budget store. Killed and started again by crash.ts.
import type { Agent, ModelResponse, Run, Tool } from '@cobbler/agent';
import { AgentError, Executor } from '@cobbler/agent';
import { BudgetClient } from '@cobbler/agent/budgets';
import { scriptCapabilities } from '@cobbler/agent/testing';
import { maxTokens, planOf, price, runsPerScenario } from './crash-plan.ts';
import { storesAt } from './crash-stores.ts';

const [service = '', place = '', first = '1', last = '1'] = process.argv.slice(2);

async function post(path: string, body: object): Promise<unknown> {
  const response = await fetch(service + path, { method: 'POST', body: JSON.stringify(body) });
  return await response.json();
}

/** A model that asks the service of the bench. */
function agentOf(scenario: number, run: string, level: number): Agent {
  return {
    provider: 'bench',
    model: 'bench',
    maxTokens,
    capabilities: scriptCapabilities,
    async run({ messages, config }, context): Promise<ModelResponse> {
      const inputTokens = Math.ceil(JSON.stringify(messages).length / 4);
      const asked = { scenario, run, level, inputTokens, maxTokens: config?.maxTokens ?? maxTokens };
      const { outputTokens, calls } = (await post('/model', asked)) as {
        outputTokens: number;
        calls: boolean;
      };
      if (context?.signal?.aborted === true)
        throw new AgentError({
          kind: 'aborted',
          message: 'Cancelled.',
          wasted: { inputTokens, outputTokens },
        });
      const call = {
        type: 'tool_call',
        id: `c${messages.length}`,
        toolName: 'helper',
        arguments: { prompt: 'Go.' },
      } as const;
      const content = calls ? [call] : [{ type: 'text', text: 'Done.' } as const];
      return {
        message: { role: 'assistant', content },
        ...{
          content: '',
          toolCalls: [],
          usage: { inputTokens, outputTokens },
          wasted: { inputTokens: 0, outputTokens: 0 },
        },
        ...{ stopReason: calls ? 'tool_use' : 'complete', model: 'bench', attempts: 1 },
      } as ModelResponse;
    },
  };
}

async function perform(scenario: number): Promise<void> {
  const { store, budgets } = opened;
  const name = `scenario-${scenario}`;
  await budgets.define({ name, parent: 'all', limits: { usd: planOf(scenario).limit } });
  const budget = await client.budget(name);
  const pricing = () => price;
  const work = async (index: number): Promise<void> => {
    const id = `${name}-run-${index}`;
    const events = await store.read(id);
    const last = events.at(-1);
    if (last?.type === 'finished') return;
    const helper: Tool = new Executor({
      ...{ agent: agentOf(scenario, id, 2), store, pricing, limits: { turns: 2 } },
    }).asTool({ name: 'helper', description: 'Helps.' });
    const executor = new Executor({
      ...{ agent: agentOf(scenario, id, 1), store, pricing, tools: [helper], limits: { turns: 3 } },
    });
    const run: Run =
      events.length === 0 ? executor.run('Go.', { sessionId: id, budget }) : executor.resume(id, { budget });
    await run.result;
  };
  await Promise.all(Array.from({ length: runsPerScenario }, (_, index) => work(index)));
  await client.flush();
}

const opened = await storesAt(place);
const client = new BudgetClient({ store: opened.budgets, waitMs: 5_000 });
await opened.budgets.define({ name: 'all', limits: {} });
for (let scenario = Number(first); scenario <= Number(last); scenario += 1) {
  await post('/begin', { scenario });
  await perform(scenario);
  await post('/end', { scenario });
}
await opened.store.close();
await opened.budgets.close();
process.exit();
