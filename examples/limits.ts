// Shows limits that end a run: turns, cost, repetition, and a shared budget.
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

// A model that never stops. Each response uses 1,000 input tokens and 100 output tokens.
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

// Ends with a final response, without tools.
await within({ turns: 4 }, { onLimit: 'finalize' });

// The maximum cost is reserved before each request, so the limit is never exceeded.
const pricing = () => ({ input: 5, output: 25 });
await within({ usd: 0.02, turns: 100 }, { pricing, request: { maxTokens: 100 } });

// Three times the same call with the same result in a row counts as no progress.
const stuck = { ...look, execute: () => 'Not yet.' };
const same = scriptedAgent([{ calls: [{ name: 'look', arguments: {} }] }], { repeat: true });
await within({}, { agent: same, tools: [stuck] });

// Several runs can share one budget, and so can the work they delegate.
const budget = new Budget({ tokens: 5_000 });
for (const name of ['first', 'second']) {
  const executor = new Executor({ agent: tireless(), tools: [look], request: { maxTokens: 100 } });
  const { limit, metrics } = await executor.run('Tell me when the glue has dried.', { budget });
  console.log(`the ${name} of two ended by ${limit} after ${metrics.invocations} turns`);
}
