import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { planOutput } from '../../src/interfaces/output.ts';
import { scriptedModel } from '../../src/testing/scripted-model.ts';
import { AgentError } from '../../src/values/errors.ts';

const schema = z.object({ name: z.string(), age: z.coerce.number().default(7) });

describe('planOutput', () => {
  it('passes the schema to an agent that enforces it, and reads its response with types and defaults', async () => {
    const plan = planOutput(scriptedModel([]), { schema });
    expect(plan.tool).toBeUndefined();
    expect(plan.shape).toMatchObject({ name: 'answer', schema: { type: 'object', required: ['name'] } });
    expect(await plan.parse('{"name":"Ada"}')).toEqual({ name: 'Ada', age: 7 });
  });

  it('gives an agent without schema support a read-only tool', () => {
    const plan = planOutput(scriptedModel([], { output: 'tool' }), { name: 'person', schema });
    expect(plan.shape).toBeUndefined();
    expect(plan.tool).toMatchObject({ name: 'person', effect: 'read' });
  });

  it('rejects an agent without structured output, a non-object schema and an invalid name', () => {
    expect(() => planOutput(scriptedModel([], { output: 'none' }), { schema })).toThrow(AgentError);
    expect(() => planOutput(scriptedModel([]), { schema: { type: 'string' } })).toThrow(AgentError);
    expect(() => planOutput(scriptedModel([]), { name: 'not a name', schema })).toThrow(AgentError);
  });

  it.each(['', 'Ada', '[]', 'null', '"x"', '{"age":3}', '{"name":1}'])(
    'rejects the response %j [P1]',
    async (text) => {
      for (const shape of [
        schema,
        { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      ]) {
        await expect(planOutput(scriptedModel([]), { schema: shape }).parse(text)).rejects.toMatchObject({
          kind: 'agent',
          code: 'output',
        });
      }
    },
  );
});
