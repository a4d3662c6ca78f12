import { createAnthropic } from '@ai-sdk/anthropic';
import { isStepCount, jsonSchema, streamText, tool } from 'ai';
import { model, toolDescription, toolName, toolOutput, toolSchema } from '../answer.ts';
import type { Contestant, Outcome, Target } from '../contestant.ts';

/** Vercel's AI SDK: `streamText` with its own loop; the text is read from its stream. */
export function open(target: Target): Contestant {
  const provider = createAnthropic({ apiKey: 'key', baseURL: `${target.url}/v1` });
  return { run: (prompt) => run(provider, target, prompt) };
}

type Provider = ReturnType<typeof createAnthropic>;

async function run(provider: Provider, target: Target, prompt: string): Promise<Outcome> {
  let toolCalls = 0;
  let shown = 0;
  const result = streamText({
    model: provider(model),
    prompt,
    tools: {
      [toolName]: tool({
        description: toolDescription,
        inputSchema: jsonSchema({ ...toolSchema, required: [...toolSchema.required] }),
        execute: () => {
          toolCalls += 1;
          return toolOutput;
        },
      }),
    },
    stopWhen: isStepCount(target.turns),
  });
  for await (const delta of result.textStream) shown += delta.length;
  const steps = await result.steps;
  return { turns: steps.length, toolCalls, shown, text: await result.text };
}
