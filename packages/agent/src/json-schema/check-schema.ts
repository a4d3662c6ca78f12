import { argumentError } from '../values/errors.ts';
import type { JsonObject } from '../values/json.ts';
import type { Check } from './simple-schema.ts';
import { compileSimple, isSimple, issueText } from './simple-schema.ts';

/** The checks of the schemas used so far; null for a schema that needs the library. */
const compiled = new WeakMap<JsonObject, Check | null>();

/**
 * Validates a value against a JSON Schema of draft 2020-12. `format` is not checked, and nothing is fetched. Patterns
 * match in linear time only if `schemaProblem` returns undefined.
 * @returns the problem with the path of the argument, written for the model, or undefined.
 */
export async function checkSchema(schema: JsonObject, value: unknown): Promise<string | undefined> {
  try {
    return await checkArguments(schema, value);
  } catch (thrown) {
    throw argumentError('checkSchema', thrown);
  }
}

/** Like {@link checkSchema}. Returns no promise for a schema that needs no library, as for most tools. */
export function checkArguments(
  schema: JsonObject,
  value: unknown,
): string | undefined | Promise<string | undefined> {
  // A schema can be a boolean too, which is no key.
  let check = typeof schema === 'object' ? compiled.get(schema) : compileSimple(schema);
  if (check === undefined) {
    check = isSimple(schema) ? compileSimple(schema) : null;
    compiled.set(schema, check);
  }
  if (check === null) return checkWithLibrary(schema, value);
  const issue = check(value);
  return issue && issueText(issue);
}

async function checkWithLibrary(schema: JsonObject, value: unknown): Promise<string | undefined> {
  const { checkFull } = await import('./full-schema.ts');
  return checkFull(schema, value);
}
