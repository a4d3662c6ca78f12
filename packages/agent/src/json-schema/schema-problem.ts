import { argumentError } from '../values/errors.ts';
import type { JsonObject } from '../values/json.ts';
import { schemaFault } from './schema-issue.ts';

/**
 * Returns why a schema from another program cannot be used, as text to append to its name, or undefined if it can be
 * used. Such a schema can be crafted to keep the process busy, so only patterns that match in linear time are
 * accepted.
 */
export async function schemaProblem(schema: JsonObject): Promise<string | undefined> {
  try {
    const { checkFull, compileFull, endless, isTooMuch } = await import('./full-schema.ts');
    try {
      const fault = schemaFault(schema);
      if (fault !== undefined) return fault;
      const { node, costly } = compileFull(schema);
      const [error] = node.schemaErrors ?? [];
      if (error !== undefined) return `${error.data.pointer} is not valid`;
      const [pattern] = costly;
      if (pattern !== undefined)
        return `its pattern ${JSON.stringify(pattern)} cannot be matched in linear time`;
      return checkFull(schema, {})?.endsWith(endless) === true
        ? 'validation against it takes too many steps'
        : undefined;
    } catch (error) {
      if (isTooMuch(error)) return 'it is too large';
      throw error;
    }
  } catch (thrown) {
    throw argumentError('schemaProblem', thrown);
  }
}
