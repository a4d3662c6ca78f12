import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkSchema } from '../../src/json-schema/check-schema.ts';
import type { Json, JsonObject } from '../../src/values/json.ts';
import { isObject } from '../../src/values/json.ts';

interface Group {
  readonly description: string;
  readonly schema: JsonObject;
  readonly tests: readonly { readonly description: string; readonly data: Json; readonly valid: boolean }[];
}

const folder = join(import.meta.dirname, '../fixtures/json-schema-suite');
const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
const suite: Readonly<Record<string, readonly Group[]>> = read('required.json');
const remotes: Readonly<Record<string, JsonObject>> = read('remotes.json');

/**
 * Cases that fail, and why: schemas that refer to the meta-schema of the draft, a remote document
 * that is not fetched, and one that disables keywords with its own meta-schema.
 */
const notMet: readonly string[] = [
  'defs: validate definition against metaschema: valid definition schema',
  'ref: remote ref, containing refs itself: remote ref valid',
  'vocabulary: schema that uses custom metaschema with with no validation vocabulary: no validation: invalid number, but it still validates',
];

/** Bundles the remote schemas that a case refers to into its schema: nothing is fetched. */
function bundled(schema: JsonObject): JsonObject {
  const text = JSON.stringify(schema);
  if (!isObject(schema) || !text.includes('localhost:1234')) return schema;
  const used: JsonObject = {};
  for (const [address, remote] of Object.entries(remotes)) {
    const { $id = address } = remote;
    used[String($id)] = { ...remote, $id };
    // The `$id` of a document can differ from its address.
    if ($id !== address) used[address] = { $id: address, $ref: $id };
  }
  const given = isObject(schema['$defs']) ? (schema['$defs'] as JsonObject) : {};
  return { ...schema, $defs: { ...used, ...given } };
}

describe('the required cases of JSON Schema 2020-12 [P9]', () => {
  it.each(Object.keys(suite))('%s', async (file) => {
    const wrong: string[] = [];
    for (const { description, schema, tests } of suite[file] ?? []) {
      const whole = bundled(schema);
      for (const test of tests) {
        const isValid = (await checkSchema(whole, test.data)) === undefined;
        if (isValid !== test.valid) wrong.push(`${file}: ${description}: ${test.description}`);
      }
    }
    expect(wrong).toEqual(notMet.filter((name) => name.startsWith(`${file}: `)));
  });

  it('are 1,299', () => {
    const counts = Object.values(suite).flatMap((groups) => groups.map(({ tests }) => tests.length));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(1299);
  });
});
