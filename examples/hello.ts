// Shows the smallest run there is: an agent, an executor, a prompt, and a result that says how it went.
// Run it with: npm run try -- examples/hello.ts
import { Executor } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';

// A model that says what we tell it to. `createClaude({ model: 'balanced' })` of @cobbler/provider-claude is a real
// one, and nothing below would change.
const agent = scriptedAgent([
  'A cobbler mends shoes.',
  { error: { kind: 'auth', message: 'This key is not valid.' } },
]);
const executor = new Executor({ agent, system: 'Answer in one sentence.' });

// A run has begun as soon as it is made. Who likes may watch it, and leave whenever they like.
const run = executor.run('What does a cobbler do?');
for await (const event of run) if (event.type === 'text_delta') process.stdout.write(event.text);
console.log();

// Awaited, it is its result: the answer, the whole conversation, and what it took.
const first = await run;
console.log(first.status, `${first.messages.length} messages`, `${first.metrics.totalInputTokens} tokens in`);

// What goes wrong in the world is a result as well. Nothing is thrown unless we ask for it by `unwrap`.
const second = await executor.run('And what does a tailor do?');
console.log(second.status, second.error?.kind, second.error?.message);
