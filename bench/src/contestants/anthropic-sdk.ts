import { Anthropic } from '@anthropic-ai/sdk';
import { model, toolDescription, toolName, toolOutput, toolSchema } from '../answer.ts';
import type { Contestant, Outcome, Target } from '../contestant.ts';

/** The vendor's SDK with its own tool runner and streaming. */
export function open(target: Target): Contestant {
  const client = new Anthropic({ apiKey: 'key', baseURL: target.url });
  return { run: (prompt) => run(client, target, prompt) };
}

async function run(client: Anthropic, target: Target, prompt: string): Promise<Outcome> {
  let turns = 0;
  let toolCalls = 0;
  let shown = 0;
  const runner = client.beta.messages.toolRunner({
    model,
    max_tokens: 4096,
    messages: [{ role: 'user', content: prompt }],
    tools: [
      {
        name: toolName,
        description: toolDescription,
        input_schema: { ...toolSchema, required: [...toolSchema.required] },
        parse: (input) => input,
        run: () => {
          toolCalls += 1;
          return toolOutput;
        },
      },
    ],
    stream: true,
    max_iterations: target.turns,
    // Its default keeps the history on the service and sends only new messages.
    thread: false,
  });
  for await (const stream of runner) {
    stream.on('text', (delta) => {
      shown += delta.length;
    });
    await stream.finalMessage();
    turns += 1;
  }
  const last = await runner.done();
  const text = last.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  return { turns, toolCalls, shown, text };
}
