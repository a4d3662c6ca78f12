import { defineTool, Executor } from '@cobbler/agent';
import { createClaude } from '@cobbler/provider-claude';
import { model, toolDescription, toolName, toolOutput, toolSchema } from '../answer.ts';
import type { Contestant, Outcome, Target } from '../contestant.ts';

/** Cobbler as in its README: default settings, a tool and a subscriber. */
export function open(target: Target): Contestant {
  const agent = createClaude({ apiKey: 'key', baseURL: target.url, model });
  const tool = defineTool({
    name: toolName,
    description: toolDescription,
    parameters: { ...toolSchema, required: [...toolSchema.required] },
    execute: () => toolOutput,
  });
  const executor = new Executor({ agent, tools: [tool], limits: { turns: target.turns } });
  return { run: (prompt) => run(executor, prompt) };
}

async function run(executor: Executor, prompt: string): Promise<Outcome> {
  let shown = 0;
  const started = executor.run(prompt);
  started.subscribe((event) => {
    if (event.type === 'text_delta') shown += event.text.length;
  });
  const { metrics, text } = (await started).unwrap();
  return { turns: metrics.invocations, toolCalls: metrics.toolCalls, shown, text };
}
