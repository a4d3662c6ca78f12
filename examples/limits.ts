// Shows what ends a run that would not end by itself: turns, money, turning in circles, and a budget that is shared.
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

// A model that never has enough. Each of its answers takes 1,000 tokens in and 100 out.
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

// A closing answer, without tools, instead of none.
await within({ turns: 4 }, { onLimit: 'finalize' });

// Money is reserved before each request, by what it costs at most, so the limit is kept and not noticed later.
const pricing = () => ({ input: 5, output: 25 });
await within({ usd: 0.02, turns: 100 }, { pricing, request: { maxTokens: 100 } });

// The same call with the same result, three times in a row, is no progress.
const stuck = { ...look, execute: () => 'Not yet.' };
const same = scriptedAgent([{ calls: [{ name: 'look', arguments: {} }] }], { repeat: true });
await within({}, { agent: same, tools: [stuck] });

// Several runs can share one budget, as can whatever they hand work on to.
const budget = new Budget({ tokens: 5_000 });
for (const name of ['first', 'second']) {
  const executor = new Executor({ agent: tireless(), tools: [look], request: { maxTokens: 100 } });
  const { limit, metrics } = await executor.run('Tell me when the glue has dried.', { budget });
  console.log(`the ${name} of two ended by ${limit} after ${metrics.invocations} turns`);
}
