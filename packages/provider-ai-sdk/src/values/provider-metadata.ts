import type { SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { Json } from '@cobbler/agent';
import { fieldsOf, isFields } from './fields.ts';

/** Data that a provider of the SDK attaches to a part, under the provider's name, and expects back. */
export type Options = Readonly<Record<string, Json>>;

/**
 * Creates provider metadata from the kind of its part, the provider's data, and the data of the texts after a
 * reasoning part.
 */
export function sealOf(
  of: 'text' | 'reasoning' | 'call',
  options: Options,
  texts: readonly Options[] = [],
): Json {
  return { of, options, ...(texts.length > 0 && { texts: [...texts] }) };
}

/** Returns the provider's data in the metadata of a part; undefined for metadata of another kind of part. */
export function optionsIn(
  data: unknown,
  of: 'text' | 'reasoning' | 'call',
): SharedV4ProviderOptions | undefined {
  const fields = fieldsOf(data);
  return fields['of'] === of && isFields(fields['options']) ? asOptions(fields['options']) : undefined;
}

/** Returns the data of the texts after a reasoning part, in order. */
export function textOptionsIn(data: unknown): SharedV4ProviderOptions[] {
  const { texts } = fieldsOf(data);
  return Array.isArray(texts) ? texts.filter(isFields).map(asOptions) : [];
}

function asOptions(value: unknown): SharedV4ProviderOptions {
  return value as SharedV4ProviderOptions;
}

/** Merges metadata, which arrives in several parts; a later value of a field replaces an earlier one. */
export function mergedOptions(earlier: Options | undefined, later: unknown): Options {
  const merged: Record<string, Json> = { ...earlier };
  for (const [provider, values] of Object.entries(fieldsOf(later)))
    merged[provider] = { ...fieldsOf(merged[provider]), ...fieldsOf(values) } as Json;
  return merged;
}

/** Returns true if the options contain only the service's id of the item. */
export function isIdAlone(options: Options): boolean {
  return Object.values(options).every((values) =>
    Object.keys(fieldsOf(values)).every((name) => name === 'itemId'),
  );
}
