// Shows a model that calls two tools, with typed arguments, an error that the model sees, and the result of each call.
// Run it with: npm run try -- examples/tools.ts
import { defineTool, Executor } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { z } from 'zod';

const stock = new Map([
  ['boots', 3],
  ['sandals', 0],
]);

// A `read` tool changes nothing. Adjacent calls run in parallel, and can run again after a crash.
const look = defineTool({
  name: 'look_up',
  description: 'Says how many pairs are in stock.',
  effect: 'read',
  parameters: { shoe: z.enum(['boots', 'sandals']) },
  execute: ({ shoe }) => `${stock.get(shoe)} pairs`,
});

// The default effect is `once`, which means that a call never runs twice.
const order = defineTool({
  name: 'order',
  description: 'Orders pairs from the supplier.',
  parameters: { shoe: z.string(), pairs: z.number().int().positive() },
  execute({ shoe, pairs }) {
    stock.set(shoe, (stock.get(shoe) ?? 0) + pairs);
    return { ordered: pairs, inStock: stock.get(shoe) };
  },
});

const call = (name: string, args: Record<string, unknown>) => ({ name, arguments: args });
const agent = scriptedAgent([
  { calls: [call('look_up', { shoe: 'boots' }), call('look_up', { shoe: 'sandals' })] },
  { text: 'No sandals left.', calls: [call('order', { shoe: 'sandals', pairs: 'five' })] },
  { calls: [call('order', { shoe: 'sandals', pairs: 5 })] },
  'I ordered five pairs of sandals.',
]);

const executor = new Executor({ agent, tools: [look, order] });
const run = executor.run('Order five pairs of whatever is out of stock.');
run.subscribe((event) => {
  if (event.type !== 'tool_result') return;
  const [part] = event.content;
  const said = part?.type === 'text' ? part.text : '';
  // The third call has invalid arguments, so it does not run. The model sees the reason and corrects the call.
  console.log(event.isError ? 'refused' : 'ran', event.toolName, said.split('\n')[0]);
});
const { text, metrics } = await run;
console.log(text);
console.log(`${metrics.toolCalls} calls, ${stock.get('sandals')} pairs of sandals`);
