import type { JsonObject } from '../values/json.ts';
import { checkSimple, isSimple } from './simple-schema.ts';

const simple = new WeakMap<JsonObject, boolean>();

/**
 * Validates a value against a JSON Schema of draft 2020-12. `format` is not checked, and nothing is fetched. Patterns
 * match in linear time only if `schemaProblem` returns undefined.
 * @returns the problem with the path of the argument, written for the model, or undefined.
 */
export async function checkSchema(schema: JsonObject, value: unknown): Promise<string | undefined> {
  if (typeof schema !== 'object') return checkSimple(schema, value);
  const isKnown = simple.get(schema) ?? isSimple(schema);
  simple.set(schema, isKnown);
  if (isKnown) return checkSimple(schema, value);
  const { checkFull } = await import('./full-schema.ts');
  return checkFull(schema, value);
}
