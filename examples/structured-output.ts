// Shows structured output, which is requested with a schema, validated and typed.
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

// Some services enforce a schema themselves. With other services, the model responds through a tool. The result is the
// same.
for (const output of ['native', 'tool'] as const) {
  const says =
    output === 'native' ? JSON.stringify(order) : { calls: [{ name: 'repair', arguments: order }] };
  const agent = scriptedAgent([says], { capabilities: { output } });
  const result = await new Executor({ agent }).run(letter, { output: { name: 'repair', schema: repair } });
  // `unwrap` throws unless the status is `complete`. Only then does the result contain the output.
  const { shoe, faults, hours } = result.unwrap().output;
  console.log(`${output}: ${shoe}, ${faults.join(' and ')}, ${hours} hours`);
}

// If the response does not match the schema, the run fails with the reason. You never get a partial object.
const careless = scriptedAgent([JSON.stringify({ ...order, faults: ['laces'] })]);
const failed = await new Executor({ agent: careless }).run(letter, { output: { schema: repair } });
console.log(failed.status, failed.error?.code, failed.output);
