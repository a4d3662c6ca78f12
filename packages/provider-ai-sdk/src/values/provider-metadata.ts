import type { SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { Json } from '@cobbler/agent';
import { isObject } from '@cobbler/agent/provider';
import { fieldsOf, listIn } from './fields.ts';

/** Kinds of parts with data of a provider. */
export type BlockKind = 'text' | 'reasoning' | 'call';

/** Data that a provider of the SDK attaches to a part, under the provider's name, and expects back. */
export type Options = Readonly<Record<string, Json>>;

/** Creates provider metadata from the kind of its part, the provider's data, and that of the texts after reasoning. */
export function sealOf(of: BlockKind, options: Options = {}, texts: readonly Options[] = []): Json {
  return { of, options, ...(texts.length > 0 && { texts: [...texts] }) };
}

/** Returns the provider's data in the metadata of a part; undefined for metadata of another kind of part. */
export function optionsIn(data: unknown, kind: BlockKind): SharedV4ProviderOptions | undefined {
  const { of, options } = fieldsOf(data);
  return of === kind && isOptions(options) ? options : undefined;
}

/** Returns the data of the texts after a reasoning part, in order. */
export function textOptionsIn(data: unknown): SharedV4ProviderOptions[] {
  return listIn(fieldsOf(data)['texts']).filter(isOptions);
}

/** Returns true for options as they were stored, which contain only JSON. */
function isOptions(value: unknown): value is SharedV4ProviderOptions {
  return isObject(value);
}

/** Merges metadata, which arrives in several parts; a later value of a field replaces an earlier one. */
export function mergedOptions(earlier: Options | undefined, later: unknown): Options {
  const merged: Record<string, Json> = { ...earlier };
  for (const [provider, values] of Object.entries(fieldsOf(later)))
    merged[provider] = { ...fieldsOf(merged[provider]), ...fieldsOf(values) } as Json;
  return merged;
}

/** Returns true if the options contain only the service's id of the item. */
export function isIdAlone(options: Options = {}): boolean {
  return Object.values(options).every((values) =>
    Object.keys(fieldsOf(values)).every((name) => name === 'itemId'),
  );
}
