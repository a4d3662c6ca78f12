import type { JsonObject, StandardSchema } from '@cobbler/agent';
import { AgentError, defineTool, Executor } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { toJsonSchema, toStandardJsonSchema } from '@valibot/to-json-schema';
import { type } from 'arktype';
import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { z as z3 } from 'zod-3';
import { zodToJsonSchema } from 'zod-to-json-schema';

type Schema = StandardSchema<unknown>;
type Fields = Readonly<Record<string, Schema>>;

/** The same schemas, written with one library. */
interface Library {
  /** `city` is not empty, `days` defaults to 3, `stay.from` is a string; `tag` becomes a length. */
  readonly whole: Schema;
  readonly fields: Fields;
  /** A string other than `Oz`, checked asynchronously; absent if the library is synchronous. */
  readonly later?: Schema;
  /** An object whose field `when`, inside `stay`, is a date; absent if the library converts one to JSON Schema. */
  readonly dated?: Schema;
  readonly toJsonSchema?: (schema: never) => unknown;
}

const ofZod: Library = {
  whole: z.object({
    city: z.string().min(1),
    days: z.number().default(3),
    stay: z.object({ from: z.string() }),
    tag: z.string().transform((text) => text.length),
  }),
  fields: {
    city: z.string().min(1),
    days: z.number().default(3),
    stay: z.object({ from: z.string() }),
    tag: z.string().transform((text) => text.length),
  },
  later: z.string().refine(async (text) => text !== 'Oz', 'There is no such city.'),
  dated: z.object({ city: z.string(), stay: z.object({ when: z.date() }) }),
};

const ofZod3: Library = {
  whole: z3.object({
    city: z3.string().min(1),
    days: z3.number().default(3),
    stay: z3.object({ from: z3.string() }),
    tag: z3.string().transform((text) => text.length),
  }),
  fields: {
    city: z3.string().min(1),
    days: z3.number().default(3),
    stay: z3.object({ from: z3.string() }),
    tag: z3.string().transform((text) => text.length),
  },
  later: z3.string().refine(async (text) => text !== 'Oz', 'There is no such city.'),
  toJsonSchema: zodToJsonSchema,
};

const valibotParts = {
  city: v.pipe(v.string(), v.minLength(1)),
  days: v.optional(v.number(), 3),
  stay: v.object({ from: v.string() }),
  tag: v.pipe(
    v.string(),
    v.transform((text) => text.length),
  ),
};

const ofValibot: Library = {
  whole: v.object(valibotParts),
  fields: valibotParts,
  later: v.pipeAsync(
    v.string(),
    v.checkAsync(async (text) => text !== 'Oz', 'There is no such city.'),
  ),
  dated: v.object({ city: v.string(), stay: v.object({ when: v.date() }) }),
  toJsonSchema: (schema: v.GenericSchema) => toJsonSchema(schema, { typeMode: 'input' }),
};

const ofWrappedValibot: Library = {
  whole: toStandardJsonSchema(v.object(valibotParts)),
  fields: {
    city: toStandardJsonSchema(valibotParts.city),
    days: toStandardJsonSchema(valibotParts.days),
    stay: toStandardJsonSchema(valibotParts.stay),
    tag: toStandardJsonSchema(valibotParts.tag),
  },
};

const ofArkType: Library = {
  whole: type({
    city: 'string >= 1',
    days: 'number = 3',
    stay: { from: 'string' },
    tag: type('string').pipe((text) => text.length),
  }),
  fields: {
    city: type('string >= 1'),
    days: type('number | undefined').pipe((days) => days ?? 3),
    stay: type({ from: 'string' }),
    tag: type('string').pipe((text) => text.length),
  },
};

const libraries: readonly (readonly [string, Library])[] = [
  ['zod 4', ofZod],
  ['zod 3 with zod-to-json-schema', ofZod3],
  ['valibot with toJsonSchema', ofValibot],
  ['valibot with toStandardJsonSchema', ofWrappedValibot],
  ['ArkType', ofArkType],
];

const good = { city: 'Rome', stay: { from: 'May' }, tag: 'abc', other: 1 };
const converted = { city: 'Rome', days: 3, stay: { from: 'May' }, tag: 3 };

function toolOf(parameters: Schema | Fields | JsonObject, { toJsonSchema: convert }: Partial<Library> = {}) {
  return defineTool({
    name: 'book',
    description: 'Books.',
    parameters: parameters as Schema,
    execute: (args) => JSON.stringify(args),
    ...(convert !== undefined && { toJsonSchema: (schema: unknown) => convert(schema as never) }),
  });
}

/** Returns the arguments that the tool received, or the error that the model sees. */
async function callOf(tool: ReturnType<typeof toolOf>, given: Record<string, unknown>): Promise<unknown> {
  const agent = scriptedAgent([{ calls: [{ name: 'book', arguments: given }] }, 'Done.']);
  const { messages } = await new Executor({ agent, tools: [tool] }).run('Go.');
  const [part] = messages[2]?.content ?? [];
  const text = part?.type === 'text' ? part.text : '';
  return text.startsWith('{') ? JSON.parse(text) : text;
}

describe.each(libraries)('a schema of %s', (_name, library) => {
  it.each([
    ['of all arguments', library.whole],
    ['for each argument', library.fields],
  ])(
    '%s becomes the JSON Schema of its input, where a field with a default is optional',
    (_how, parameters) => {
      const { properties, required, type: kind } = toolOf(parameters, library).parameters;
      expect([kind, required]).toEqual(['object', ['city', 'stay', 'tag']]);
      expect(properties).toMatchObject({
        city: { type: 'string', minLength: 1 },
        stay: { type: 'object', properties: { from: { type: 'string' } }, required: ['from'] },
        tag: { type: 'string' },
      });
      expect(Object.keys(properties as object)).toEqual(['city', 'days', 'stay', 'tag']);
    },
  );

  it.each([
    ['of all arguments', library.whole],
    ['for each argument', library.fields],
  ])('%s validates and converts the arguments', async (_how, parameters) => {
    expect(await callOf(toolOf(parameters, library), good)).toMatchObject(converted);
  });

  it.each([
    ['of all arguments', library.whole],
    ['for each argument', library.fields],
  ])('%s rejects invalid arguments and names the path of each once [P9]', async (_how, parameters) => {
    const refused = await callOf(toolOf(parameters, library), { ...good, city: '', stay: { from: 5 } });
    expect(refused).toMatch(/^The arguments were rejected: /);
    expect(String(refused).match(/city/g)).toHaveLength(1);
    expect(String(refused).match(/stay\.from/g)).toHaveLength(1);
  });

  it('converts structured output, and names the path of an invalid field', async () => {
    const { toJsonSchema: convert } = library;
    const output = {
      schema: library.whole,
      ...(convert !== undefined && { toJsonSchema: (schema: unknown) => convert(schema as never) }),
    };
    const agent = scriptedAgent([JSON.stringify(good), JSON.stringify({ ...good, stay: { from: 5 } })]);
    const executor = new Executor({ agent });
    expect((await executor.run('Go.', { output })).output).toMatchObject(converted);
    const { error } = await executor.run('Go.', { output });
    expect([error?.code, error?.message]).toEqual(['output', expect.stringContaining('stay.from')]);
  });
});

const asynchronous = libraries.flatMap(([name, { later, toJsonSchema: convert }]) =>
  later === undefined ? [] : [[name, later, convert] as const],
);

describe.each(asynchronous)('an asynchronous schema of %s', (name, later, convert) => {
  const conversion = name.startsWith('valibot') ? () => ({ type: 'string' }) : convert;

  it('is awaited', async () => {
    const tool = toolOf({ city: later }, conversion === undefined ? {} : { toJsonSchema: conversion });
    expect(tool.parameters['required']).toEqual(['city']);
    expect(await callOf(tool, { city: 'Rome' })).toEqual({ city: 'Rome' });
    expect(await callOf(tool, { city: 'Oz' })).toContain('city: There is no such city.');
  });
});

function errorOf(make: () => unknown): string {
  try {
    make();
  } catch (thrown) {
    return AgentError.from(thrown).message;
  }
  return '';
}

describe('a schema that cannot be converted to JSON Schema', () => {
  it.each(libraries.filter(([, { dated }]) => dated !== undefined))(
    'names the tool and the field: %s',
    (_name, library) => {
      const { dated = library.whole } = library;
      expect(errorOf(() => toolOf(dated, library))).toMatch(
        /^Tool "book" is invalid: parameters\.stay\.when cannot be converted to JSON Schema \(.+\)\. Use a type that JSON supports/,
      );
      expect(errorOf(() => toolOf({ city: dated }, library))).toMatch(
        /parameters\.city\.stay\.when cannot be converted/,
      );
    },
  );

  it.each([
    ['zod 3', ofZod3, 'zod-to-json-schema'],
    ['valibot', ofValibot, '@valibot/to-json-schema'],
  ])('names the conversion package to use: %s', (_name, { whole, fields }, advice) => {
    expect(errorOf(() => toolOf(whole))).toMatch(
      /^Tool "book" is invalid: parameters is a schema from \w+, which has no conversion/,
    );
    expect(errorOf(() => toolOf(whole))).toContain(advice);
    expect(errorOf(() => toolOf(fields))).toMatch(
      /^Tool "book" is invalid: parameters\.city is a schema from \w+, which has no conversion/,
    );
  });

  it('names a field whose conversion returns undefined, or asks for JSON Schema without a converter', () => {
    const tool = () => toolOf({ city: z.string() }, { toJsonSchema: () => undefined });
    expect(errorOf(tool)).toContain(
      'parameters.city cannot be converted to JSON Schema (the conversion returned',
    );
    const odd = { '~standard': { version: 1 } } as unknown as Schema;
    expect(errorOf(() => toolOf(odd))).toContain('or a JSON Schema.');
  });

  it('names the output and the field in it', async () => {
    const executor = new Executor({ agent: scriptedAgent(['{}']) });
    const run = (schema: Schema) => () => executor.run('Go.', { output: { name: 'trip', schema } });
    expect(errorOf(run(ofValibot.whole))).toMatch(
      /^Output "trip" is invalid: schema is a schema from valibot/,
    );
    expect(errorOf(run(ofZod.dated ?? ofZod.whole))).toContain('schema.stay.when cannot be converted');
  });

  it('names a field that is not a schema, and a field that refers to another schema', () => {
    const tree: z.ZodType = z.object({
      get children() {
        return z.array(tree);
      },
    });
    const odd = { city: z.string(), country: { type: 'string' } } as unknown as Fields;
    expect(errorOf(() => toolOf(odd))).toContain('parameters.country is not a schema');
    expect(errorOf(() => toolOf({ tree }))).toContain('parameters.tree refers to another schema');
  });
});

describe('a record of schemas', () => {
  it('can be empty, for a tool without arguments', async () => {
    expect(toolOf({}).parameters).toEqual({ type: 'object', properties: {}, required: [] });
    expect(await callOf(toolOf({}), {})).toEqual({});
  });

  it('makes an argument optional if its schema accepts undefined, and drops unknown arguments', async () => {
    const tool = toolOf({ city: z.string(), state: z.string().optional() });
    expect(tool.parameters['required']).toEqual(['city']);
    expect(await callOf(tool, { city: 'Rome', other: 1 })).toEqual({ city: 'Rome' });
  });
});

describe('JSON Schema', () => {
  it('is used unchanged, and validates the arguments', async () => {
    const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    expect(toolOf(parameters).parameters).toEqual(parameters);
    expect(await callOf(toolOf(parameters), { city: 'Rome' })).toEqual({ city: 'Rome' });
    expect(await callOf(toolOf(parameters), { city: 5 })).toMatch(/^The arguments were rejected: city/);
  });
});
