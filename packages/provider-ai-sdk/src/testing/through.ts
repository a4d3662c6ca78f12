import { isObject } from '@cobbler/agent/provider';
import type { ProviderTesting } from '@cobbler/agent/testing';
import { fieldsOf } from '../values/fields.ts';
import type { Between } from './between.ts';

/** Adapts the mock wire of a service for an agent that uses the service through the AI SDK. */
export function throughAiSdk(
  testing: ProviderTesting,
  { provider, lacks, request }: Between,
): ProviderTesting {
  return {
    ...testing,
    provider,
    request: { ...testing.request, ...request },
    lacks: { ...testing.lacks, ...lacks },
    read: (body) => testing.read(inOurWords(body)),
    refuse: (body) => testing.refuse(inOurWords(body)),
  };
}

/**
 * Rewrites a request into the form that the mock of the Responses API reads. The API accepts messages with and
 * without their type, and instructions as initial system messages; the mock reads one form and the SDK writes the
 * other.
 */
function inOurWords(body: unknown): unknown {
  if (!isObject(body) || !Array.isArray(body['input'])) return body;
  const items = body['input'].map((item: unknown) =>
    isObject(item) && item['type'] === undefined && 'role' in item ? { type: 'message', ...item } : item,
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
