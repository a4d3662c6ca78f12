import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { Tool } from '../../src/interfaces/tool.ts';
import { defineTool, fromFlatTool, readTool, validateArguments } from '../../src/interfaces/tool.ts';
import { isToolOutput, toolOutput } from '../../src/interfaces/tool-output.ts';
import { AgentError } from '../../src/values/errors.ts';
import { read } from '../../src/values/input.ts';

const context = {
  signal: new AbortController().signal,
  callId: 'a',
  idempotencyKey: 'k',
  progress: () => {},
} as unknown as Parameters<Tool['execute']>[1];

const zodTool = defineTool({
  name: 'add',
  description: 'Adds.',
  parameters: z.object({ a: z.number().int(), b: z.number().default(1) }),
  effect: 'read',
  execute: (args) => {
    expectTypeOf(args).toEqualTypeOf<{ a: number; b: number }>();
    return args.a + args.b;
  },
});

describe('defineTool', () => {
  it('accepts zod: typed arguments, JSON Schema for the model, defaults filled in [S0.5]', async () => {
    expect(zodTool.parameters).toMatchObject({
      type: 'object',
      properties: { a: { type: 'integer' } },
      required: ['a'],
    });
    expect(JSON.stringify(zodTool.parameters)).not.toMatch(/\$schema|9007199254740991/);
    const valid = await validateArguments(zodTool, { a: 2 });
    expect(valid).toEqual({ ok: true, value: { a: 2, b: 1 } });
    expect(valid.ok && zodTool.execute(valid.value, context)).toBe(3);
  });

  it('tells the model which argument is wrong [P9]', async () => {
    expect(await validateArguments(zodTool, { a: 'two' })).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/^a: /),
    });
    expect(await validateArguments(zodTool, {})).toMatchObject({ ok: false });
  });

  it('accepts JSON Schema, in any order of keys [S0.5]', () => {
    const one = defineTool({
      name: 'a',
      description: '',
      parameters: { type: 'object', properties: {} },
      execute: () => 1,
    });
    const two = defineTool({
      name: 'a',
      description: '',
      parameters: { properties: {}, type: 'object' },
      execute: () => 1,
    });
    expect(JSON.stringify(one.parameters)).toBe(JSON.stringify(two.parameters));
  });

  it.each(['', 'has space', 'a'.repeat(65), 'dot.ted', 'ünïcode'])('rejects the name %j', (name) => {
    const make = () =>
      defineTool({ name, description: '', parameters: { type: 'object' }, execute: () => 1 });
    expect(make).toThrow(AgentError);
  });

  it('rejects a schema that does not describe an object, and a library without JSON Schema', () => {
    const make = (parameters: never) => () =>
      defineTool({ name: 'a', description: '', parameters, execute: () => 1 });
    const use = 'Use z.object({ … }), a record of schemas such as { city: z.string() }, or a JSON Schema.';
    const message = (type: string) =>
      `Tool "a" is invalid: parameters must have type object, but its type is ${type}. ${use}`;
    for (const parameters of [{ type: 'string' }, z.string()])
      expect(make(parameters as never)).toThrow(message('string'));
    expect(make(z.union([z.object({}), z.string()]) as never)).toThrow(message('missing, as in a union'));
    expect(
      make({ '~standard': { version: 1, vendor: 'v', validate: () => ({ value: 1 }) } } as never),
    ).toThrow('Tool "a" is invalid: parameters is a schema from v, which has no conversion to JSON Schema.');
  });

  it('accepts a flat tool [S4.3]', async () => {
    const tool = fromFlatTool({
      name: 'echo',
      description: 'Echoes.',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      execute: (input, { signal }) => Promise.resolve(`${String(input['text'])} ${signal.aborted}`),
    });
    expect(() => read(tool, readTool, 'tool')).not.toThrow();
    expect(await tool.execute({ text: 'hi' }, context)).toBe('hi false');
    expect(await validateArguments(tool, {})).toMatchObject({ ok: false });
  });
});

describe('validating arguments', () => {
  it('never throws, whatever the validation does', async () => {
    for (const validate of [
      () => {
        throw new Error('no check');
      },
      () => Promise.reject(new Error('no check')),
    ]) {
      const tool = { ...zodTool, validate };
      expect(await validateArguments(tool, {})).toMatchObject({
        ok: false,
        problem: expect.stringContaining('no check'),
      });
    }
  });
});

describe('a schema that JSON Schema cannot express', () => {
  const define = (parameters: z.ZodType<Record<string, unknown>>) => () =>
    defineTool({ name: 'book', description: 'Books.', parameters, execute: () => 'booked' });

  it.each([
    ['a field', z.object({ at: z.string(), when: z.date() }), 'parameters.when'],
    ['a nested field', z.object({ stay: z.object({ from: z.date() }) }), 'parameters.stay.from'],
    ['an optional field', z.object({ when: z.date().optional() }), 'parameters.when'],
    ['the items of an array', z.object({ days: z.array(z.date()) }), 'parameters.days.[]'],
    ['an option of a union', z.object({ when: z.union([z.string(), z.date()]) }), 'parameters.when'],
  ])('names the tool and the field: %s', (_, parameters, field) => {
    expect(define(parameters)).toThrow(
      expect.objectContaining({
        kind: 'invalid',
        code: 'tool_schema',
        message: expect.stringContaining(
          `Tool "book" is invalid: ${field} cannot be converted to JSON Schema`,
        ),
      }),
    );
  });
});

describe('toolOutput', () => {
  it('is recognized by its brand, not by its fields', () => {
    const output = toolOutput({ content: 'x', isError: true });
    expect(isToolOutput(output)).toBe(true);
    expect(isToolOutput({ content: 'x', isError: true })).toBe(false);
    expect([null, undefined, 'x', []].some(isToolOutput)).toBe(false);
    expect(JSON.stringify(output)).toBe('{"content":"x","isError":true}');
  });
});

describe('readTool', () => {
  const tool = { name: 'x', description: 'Does x.', parameters: { type: 'object' }, execute: () => 1 };

  it.each([
    [{ effect: 'reed' }, 'tool.effect is invalid: it is "reed". Use "read" or "idempotent" or "once".'],
    [{ execute: 3 }, 'tool.execute is invalid: it is 3. Use a function.'],
  ])('rejects %j instead of guessing a valid value [P9]', (wrong, words) => {
    expect(() => read({ ...tool, ...wrong }, readTool, 'tool')).toThrow(words);
  });

  it.each([undefined, null, 7, {}, ['x']])(
    'rejects the name %j, although it would be valid as a string',
    (name) => {
      expect(() => read({ ...tool, name }, readTool, 'tool')).toThrow(/^tool\.name is invalid: it is /);
    },
  );

  it('rejects a value that is not a tool', () => {
    expect(() => read(undefined, readTool, 'tool')).toThrow('it is undefined');
    expect(() => read(null, readTool, 'tool')).toThrow('it is null');
  });
});

describe('readTool, called twice with one object', () => {
  const plain = (fields: object = {}) => ({
    ...{ name: 'add', description: 'Adds.', parameters: { type: 'object', properties: {} } },
    ...{ execute: () => 1, ...fields },
  });

  it('returns the same tool if the object has not changed, so that its cached bytes are reused', () => {
    const tool = plain();
    const first = read(tool, readTool);
    expect(read(tool, readTool)).toBe(first);
    expect(read(first, readTool)).toBe(first);
  });

  it.each<[string, (tool: ReturnType<typeof plain>) => void]>([
    ['description', (tool) => Object.assign(tool, { description: 'Adds numbers.' })],
    ['schema, in place', (tool) => Object.assign(tool.parameters.properties, { a: { type: 'number' } })],
    ['function', (tool) => Object.assign(tool, { execute: () => 2 })],
    ['effect, which was absent', (tool) => Object.assign(tool, { effect: 'read' })],
  ])('returns a new tool after a change of its %s', (_, change) => {
    const tool = plain();
    const first = read(tool, readTool);
    change(tool);
    expect(read(tool, readTool)).not.toBe(first);
  });
});
