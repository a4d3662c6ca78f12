import { transformJSONSchema } from '@anthropic-ai/sdk/lib/transform-json-schema';
import type { JsonObject } from '@cobbler/agent';
import { expect, test } from 'vitest';
import { outputSchema } from '../src/envelope.ts';

const schema: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  description: 'A place.',
  properties: {
    name: { type: 'string', minLength: 1, format: 'uuid' },
    when: { type: 'string', format: 'crontab', description: 'How often.' },
    tags: {
      type: 'array',
      items: { type: 'object', properties: { minimum: { type: 'number' } } },
      minItems: 2,
    },
    one: { type: 'array', items: { type: 'string' }, minItems: 1 },
    kind: { enum: ['a', 'b'] },
    either: { oneOf: [{ type: 'string' }, { type: 'null' }] },
    more: { $ref: '#/$defs/more' },
  },
  required: ['name'],
  additionalProperties: true,
  $defs: { more: { type: 'object', properties: {} } },
};

test('converts a schema to strict form like the vendor client', () => {
  expect(outputSchema(schema)).toEqual(transformJSONSchema(schema as never));
});

test('keeps a schema that is already strict', () => {
  const strict: JsonObject = {
    type: 'object',
    properties: { answer: { type: 'number' } },
    required: ['answer'],
    additionalProperties: false,
  };
  expect(outputSchema(strict)).toEqual(strict);
});
