// Shows a minimal run: an agent, an executor, a prompt, and a result.
// Run it with: npm run try -- examples/hello.ts
import { Executor } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';

// A scripted model. Replace it with `createClaude({ model: 'balanced' })` from @cobbler/provider-claude for a real one;
// nothing else changes.
const agent = scriptedAgent([
  'A cobbler mends shoes.',
  { error: { kind: 'auth', message: 'This key is not valid.' } },
]);
const executor = new Executor({ agent, system: 'Answer in one sentence.' });

// A run starts as soon as it is created. Any number of subscribers can watch it and leave at any time.
const run = executor.run('What does a cobbler do?');
for await (const event of run) if (event.type === 'text_delta') process.stdout.write(event.text);
console.log();

// Awaiting a run returns its result: the response, the whole conversation, and the metrics.
const first = await run;
console.log(first.status, `${first.messages.length} messages`, `${first.metrics.totalInputTokens} tokens in`);

// Failures are results too. Nothing throws unless you call `unwrap`.
const second = await executor.run('And what does a tailor do?');
console.log(second.status, second.error?.kind, second.error?.message);
