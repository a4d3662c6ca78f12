// Shows a minimal run, with an agent, an executor, a prompt and a result.
// Run it with: npm run try -- examples/hello.ts
import { Executor } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';

// This model is scripted. For a real model, replace it with `createClaude({ model: 'balanced' })` from
// @cobbler/provider-claude. Nothing else changes.
const agent = scriptedAgent([
  'A cobbler mends shoes.',
  { error: { kind: 'auth', message: 'This key is not valid.' } },
]);
const executor = new Executor({ agent, system: 'Answer in one sentence.' });

// A run starts as soon as you create it. Any number of subscribers can watch it, and can stop at any time.
const run = executor.run('What does a cobbler do?');
for await (const event of run) if (event.type === 'text_delta') process.stdout.write(event.text);
console.log();

// Await the run to get its result, with the response, the whole conversation and the metrics.
const first = await run;
console.log(first.status, `${first.messages.length} messages`, `${first.metrics.totalInputTokens} tokens in`);

// A failure is also a result. A run does not throw unless you call `unwrap`.
const second = await executor.run('And what does a tailor do?');
console.log(second.status, second.error?.kind, second.error?.message);
