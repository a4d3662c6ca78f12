import type { JsonObject } from '../values/json.ts';
import { checkSimple, isSimple } from './simple-schema.ts';

const simple = new WeakMap<JsonObject, boolean>();

/**
 * Checks a value against a JSON Schema of draft 2020-12. `format` is not checked, and nothing is fetched. Patterns
 * take time by the length of the text only where {@link schemaProblem} has nothing to say.
 * @returns what is wrong, with the path of the argument, in words for the model, or nothing.
 */
export async function checkSchema(schema: JsonObject, value: unknown): Promise<string | undefined> {
  if (typeof schema !== 'object') return checkSimple(schema, value);
  const isKnown = simple.get(schema) ?? isSimple(schema);
  simple.set(schema, isKnown);
  if (isKnown) return checkSimple(schema, value);
  const { checkFull } = await import('./full-schema.ts');
  return checkFull(schema, value);
}

/**
 * Why a schema that comes from another program cannot be used, in words that follow its name; nothing when it can. Such
 * a schema may be made to keep the process busy: its patterns have to be ones that take time by the length of the text
 * only.
 */
export async function schemaProblem(schema: JsonObject): Promise<string | undefined> {
  const { problemOf } = await import('./full-schema.ts');
  return problemOf(schema);
}
