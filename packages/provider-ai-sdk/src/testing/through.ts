import type { ProviderTesting } from '@cobbler/agent/testing';
import { fieldsOf, isFields } from '../values/fields.ts';
import type { Between } from './between.ts';

/** The inverse of a service, for an agent that speaks to it through the AI SDK. */
export function throughAiSdk(testing: ProviderTesting, { provider, lacks }: Between): ProviderTesting {
  return {
    ...testing,
    provider,
    lacks: { ...testing.lacks, ...lacks },
    read: (body) => testing.read(inOurWords(body)),
    refuse: (body) => testing.refuse(inOurWords(body)),
  };
}

/**
 * The Responses API takes messages with and without their type, and instructions as messages of the system in front.
 * Its own inverse knows the one form, the SDK writes the other.
 */
function inOurWords(body: unknown): unknown {
  if (!isFields(body) || !Array.isArray(body['input'])) return body;
  const items = body['input'].map((item: unknown) =>
    isFields(item) && item['type'] === undefined && 'role' in item ? { type: 'message', ...item } : item,
  );
  const count = items.findIndex((item) => !isInstruction(item));
  const [first, rest] = count === -1 ? [items, []] : [items.slice(0, count), items.slice(count)];
  if (first.length === 0) return { ...body, input: rest };
  const instructions = first.map((item) => fieldsOf(item)['content']).join('\n\n');
  return { ...body, instructions, input: rest };
}

function isInstruction(item: unknown): boolean {
  const { role } = fieldsOf(item);
  return role === 'system' || role === 'developer';
}
