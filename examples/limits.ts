// Shows limits that end a run: a number of turns, a cost, repeated turns, and a budget that several runs share.
// Run it with: npm run try -- examples/limits.ts
import type { ExecutorOptions, Limits } from '@cobbler/agent';
import { Budget, defineTool, Executor } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';

let looks = 0;
const look = defineTool({
  name: 'look',
  description: 'Looks whether the glue has dried.',
  effect: 'read',
  parameters: { type: 'object', properties: { minute: { type: 'integer' } } },
  execute: () => `Not yet, at look ${++looks}.`,
});

// This model never stops. Each response uses 1,000 input tokens and 100 output tokens.
let minute = 0;
const usage = { inputTokens: 1_000, outputTokens: 100 };
const tireless = () =>
  scriptedAgent(
    [
      ({ config }) =>
        config?.toolChoice === 'none'
          ? { text: 'Time is up: it was still wet.', usage }
          : { calls: [{ name: 'look', arguments: { minute: minute++ } }], usage },
    ],
    { repeat: true },
  );

async function within(limits: Limits, rest: Partial<ExecutorOptions> = {}): Promise<void> {
  const executor = new Executor({ agent: tireless(), tools: [look], limits, ...rest });
  const { status, limit = '', metrics, text } = await executor.run('Tell me when the glue has dried.');
  console.log(status, limit, `after ${metrics.invocations} turns`, text);
}

await within({ turns: 4 });

// At the limit, the model writes a final response, without tools.
await within({ turns: 4 }, { onLimit: 'finalize' });

// Cobbler reserves the maximum cost of each request before it sends the request, so the run never exceeds the limit.
const pricing = () => ({ input: 5, output: 25 });
await within({ usd: 0.02, turns: 100 }, { pricing, request: { maxTokens: 100 } });

// Six turns in a row with the same call and the same result end the run, because it makes no progress.
const stuck = { ...look, execute: () => 'Not yet.' };
const same = scriptedAgent([{ calls: [{ name: 'look', arguments: {} }] }], { repeat: true });
await within({}, { agent: same, tools: [stuck] });

// Several runs, and the tasks that they delegate, can share one budget.
const budget = new Budget({ tokens: 5_000 });
for (const name of ['first', 'second']) {
  const executor = new Executor({ agent: tireless(), tools: [look], request: { maxTokens: 100 } });
  const { limit, metrics } = await executor.run('Tell me when the glue has dried.', { budget });
  console.log(`the ${name} of two ended by ${limit} after ${metrics.invocations} turns`);
}
