import type { StandardSchema } from '@cobbler/agent';
import { checkSchema } from '@cobbler/agent/provider';
import type { Program } from '../scenario/program.ts';

const shape = {
  type: 'object',
  properties: { n: { type: 'integer' } },
  required: ['n'],
  additionalProperties: false,
};

/** The shape of final answers. Its check is a moment of its own, at which anything may happen to the program. */
export function shapeFor(program: Program): StandardSchema<{ readonly n: number }> {
  return {
    '~standard': {
      version: 1,
      vendor: 'simulation',
      jsonSchema: { input: () => shape },
      validate: async (value) => {
        program.cross('shape');
        const problem = await checkSchema(shape, value);
        return problem === undefined
          ? { value: value as { readonly n: number } }
          : { issues: [{ message: problem }] };
      },
    },
  };
}
