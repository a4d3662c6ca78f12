import type { ModelResponse, Usage } from '@cobbler/agent';
import type { ProviderTesting, ScriptAnswer } from '@cobbler/agent/testing';
import { expect, expectEqual } from '@cobbler/agent/testing';

/** Fails unless a response matches the script. */
export function expectResponse(
  response: ModelResponse,
  answer: ScriptAnswer,
  testing: ProviderTesting,
): void {
  expectEqual(wellFormed(response.content), wellFormed(scriptText(answer)), 'the text of the response');
  expectEqual(response.stopReason, answer.stop, 'the stop reason');
  if (testing.lacks['model-name'] === undefined)
    expectEqual(response.model, answer.model, 'the model of the response, set with `out.model`');
  expectUsage(response.usage, answer.usage, testing);
  expectEqual(wellFormed(response.toolCalls), wellFormed(scriptCalls(answer)), 'the calls of the response');
  expect(
    response.message.content.every((part) => part.type !== 'text' || part.text !== ''),
    'a message without empty texts',
  );
}

/** Returns the text of a scripted response. */
export function scriptText({ blocks }: ScriptAnswer): string {
  return blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/** Returns the calls of a scripted response. Their arguments must be valid JSON. */
export function scriptCalls({ blocks }: ScriptAnswer): unknown[] {
  return blocks.flatMap((block) =>
    block.type === 'call'
      ? [{ id: block.id, toolName: block.name, arguments: JSON.parse(block.input || '{}') }]
      : [],
  );
}

/** Fails unless the counts match the script, as far as the wire can report them. */
export function expectUsage(
  actual: Usage,
  expected: Usage,
  testing: ProviderTesting,
  what = 'the usage',
): void {
  expectEqual(reportable(actual, testing), reportable(expected, testing), what);
}

/** Treats a count of zero like a missing one: some services always send zeros. */
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

/** Returns the value with every lone surrogate replaced, as in all text that is sent. */
export function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]),
  );
}
