// Shows an answer in a shape: asked for by a schema, checked before we see it, typed when we do.
// Run it with: npm run try -- examples/structured-output.ts
import { Executor } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { z } from 'zod';

const repair = z.object({
  shoe: z.string(),
  faults: z.array(z.enum(['sole', 'heel', 'seam'])).min(1),
  hours: z.number().positive(),
});

const letter = 'My left boot lets water in at the toe, and its heel is gone. Can you have it ready tomorrow?';
const order = { shoe: 'left boot', faults: ['seam', 'heel'], hours: 1.5 };

// Some services keep to a schema themselves; others are given a tool to answer with. We need not care which.
for (const output of ['native', 'tool'] as const) {
  const says =
    output === 'native' ? JSON.stringify(order) : { calls: [{ name: 'repair', arguments: order }] };
  const agent = scriptedAgent([says], { capabilities: { output } });
  const result = await new Executor({ agent }).run(letter, { output: { name: 'repair', schema: repair } });
  if (result.output === undefined) throw result.error;
  const { shoe, faults, hours } = result.output;
  console.log(`${output}: ${shoe}, ${faults.join(' and ')}, ${hours} hours`);
}

// What does not fit is no answer. The run fails with the reason; nobody gets half of an object.
const careless = scriptedAgent([JSON.stringify({ ...order, faults: ['laces'] })]);
const failed = await new Executor({ agent: careless }).run(letter, { output: { schema: repair } });
console.log(failed.status, failed.error?.code, failed.output);
