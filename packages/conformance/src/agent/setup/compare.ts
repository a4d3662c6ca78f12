import type { ModelResponse, Usage } from '@cobbler/agent';
import type { ProviderTesting, ScriptAnswer } from '@cobbler/agent/testing';
import { expect, expectEqual } from '@cobbler/agent/testing';

/** Fails unless an answer is what the script said. */
export function expectAnswer(response: ModelResponse, answer: ScriptAnswer, testing: ProviderTesting): void {
  expectEqual(wellFormed(response.content), wellFormed(scriptText(answer)), 'the text of the answer');
  expectEqual(response.stopReason, answer.stop, 'the stop reason');
  if (testing.lacks['model-name'] === undefined)
    expectEqual(response.model, answer.model, 'the model that answered, which `out.model` names');
  expectUsage(response.usage, answer.usage, testing);
  expectEqual(wellFormed(response.toolCalls), wellFormed(scriptCalls(answer)), 'the calls of the answer');
  expect(
    response.message.content.every((part) => part.type !== 'text' || part.text !== ''),
    'the message to have no empty text',
  );
}

/** All text that a scripted answer says. */
export function scriptText({ blocks }: ScriptAnswer): string {
  return blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/** The calls of a scripted answer whose arguments are good JSON. */
export function scriptCalls({ blocks }: ScriptAnswer): unknown[] {
  return blocks.flatMap((block) =>
    block.type === 'call'
      ? [{ id: block.id, toolName: block.name, arguments: JSON.parse(block.input || '{}') }]
      : [],
  );
}

/** Fails unless the counts are those of the script, as far as the wire can report them. */
export function expectUsage(
  actual: Usage,
  expected: Usage,
  testing: ProviderTesting,
  what = 'the usage',
): void {
  expectEqual(reportable(actual, testing), reportable(expected, testing), what);
}

/** A detail that is zero and one that is not reported mean the same here: some services always send zeros. */
function reportable(usage: Usage, { lacks }: ProviderTesting): Usage {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens, estimated } = usage;
  const cache = lacks['cache-usage'] === undefined;
  const reasoning = lacks['reasoning-usage'] === undefined;
  return {
    inputTokens,
    outputTokens,
    ...(cache && cacheReadTokens && { cacheReadTokens }),
    ...(cache && lacks['cache-write-usage'] === undefined && cacheWriteTokens && { cacheWriteTokens }),
    ...(reasoning && reasoningTokens && { reasoningTokens }),
    ...(estimated && { estimated }),
  };
}

/** A plain value with every lone surrogate replaced, as text has to be before it is sent anywhere. */
export function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]),
  );
}
