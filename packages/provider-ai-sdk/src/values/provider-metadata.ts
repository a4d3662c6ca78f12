import type { SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { Json } from '@cobbler/agent';
import { fieldsOf, isFields } from './fields.ts';

/** Data that a provider of the SDK attaches to a part, by its name, and expects back. */
export type Options = Readonly<Record<string, Json>>;

/** A seal: what it belongs to, the provider's own data, and those of the texts behind a thought. */
export function sealOf(
  of: 'text' | 'reasoning' | 'call',
  options: Options,
  texts: readonly Options[] = [],
): Json {
  return { of, options, ...(texts.length > 0 && { texts: [...texts] }) };
}

/** The provider's data in a seal; nothing for one of another kind. */
export function optionsIn(
  data: unknown,
  of: 'text' | 'reasoning' | 'call',
): SharedV4ProviderOptions | undefined {
  const fields = fieldsOf(data);
  return fields['of'] === of && isFields(fields['options']) ? asOptions(fields['options']) : undefined;
}

/** The data of the texts behind a thought, in order. */
export function textOptionsIn(data: unknown): SharedV4ProviderOptions[] {
  const { texts } = fieldsOf(data);
  return Array.isArray(texts) ? texts.filter(isFields).map(asOptions) : [];
}

function asOptions(value: unknown): SharedV4ProviderOptions {
  return value as SharedV4ProviderOptions;
}

/** Metadata comes in several pieces; a later value of a field stands for an earlier one. */
export function mergedOptions(earlier: Options | undefined, later: unknown): Options {
  const merged: Record<string, Json> = { ...earlier };
  for (const [provider, values] of Object.entries(fieldsOf(later)))
    merged[provider] = { ...fieldsOf(merged[provider]), ...fieldsOf(values) } as Json;
  return merged;
}

/** True if it contains only the service's id of the item. */
export function isIdAlone(options: Options): boolean {
  return Object.values(options).every((values) =>
    Object.keys(fieldsOf(values)).every((name) => name === 'itemId'),
  );
}
