import { checkSchema } from '../json-schema/check-schema.ts';
import { defined } from '../values/defined.ts';
import { AgentError } from '../values/errors.ts';
import { any, callable, read, record, text } from '../values/input.ts';
import type { JsonObject } from '../values/json.ts';
import { isObject, parsedJson } from '../values/json.ts';
import type { Agent, OutputShape } from './agent.ts';
import { readSchema } from './schema.ts';
import type { StandardSchema } from './standard-schema.ts';
import type { Tool } from './tool.ts';
import { readTool } from './tool.ts';

/** The required shape of a response: a zod schema, another Standard Schema or JSON Schema. Its type must be `object`. */
export interface OutputOption<Output> {
  /** Name of the shape. Default `answer`. */
  readonly name?: string;
  readonly schema: StandardSchema<Output> | JsonObject;
  /** Converts the schema to JSON Schema. Needed for a library that does not provide this conversion. */
  toJsonSchema?(schema: unknown): unknown;
}

/** The way to request output in a shape and to read it. */
export interface OutputPlan<Output> {
  /** For agents that enforce a schema themselves. */
  readonly shape?: OutputShape;
  /** For agents that do not: the model responds by calling this tool. */
  readonly tool?: Tool;
  /** Reads a response. Throws AgentError `agent`, code `output`, if it does not have the shape. */
  parse(text: string): Promise<Output>;
}

/** Plans how to get output in a shape from this agent. @throws AgentError `invalid` if the agent does not support it. */
export function planOutput<Output>(agent: Agent, option: OutputOption<unknown>): OutputPlan<Output> {
  const path = 'options.output';
  const { name = 'answer', schema, toJsonSchema } = read(option, optionFields, path);
  const place = { owner: `Output ${JSON.stringify(name)}`, path: 'schema', toJsonSchema };
  const { json, validate } = read(
    schema,
    (given) => readSchema(given, place),
    `${path}.schema`,
    'tool_schema',
  );
  const tool = {
    name,
    description:
      'Gives the final answer. Call this tool once, when the work is done; its arguments are the answer.',
    parameters: json,
    effect: 'read',
    execute: (args: unknown) => JSON.stringify(args),
    ...defined({ validate }),
  };
  const probe = read(tool, readTool, path);
  const shape = Object.freeze({ name, schema: probe.parameters });
  const parse = async (text: string) => (await parseOutput(text, probe)) as Output;
  if (agent.capabilities.output === 'native') return { shape, parse };
  if (agent.capabilities.output === 'tool') return { tool: probe, parse };
  const message = `${agent.provider} with model ${agent.model} does not support structured output.`;
  throw new AgentError({ kind: 'invalid', code: 'unsupported', message });
}

const optionFields = record<OutputOption<unknown>>({ name: text, schema: any, toJsonSchema: callable }, [
  'schema',
]);

async function parseOutput(text: string, { parameters, validate }: Tool): Promise<unknown> {
  const value = parsedJson(text);
  if (!isObject(value)) throw wrongShape('it is not a JSON object');
  if (validate === undefined) {
    const problem = await checkSchema(parameters, value);
    if (problem !== undefined) throw wrongShape(problem);
    return value;
  }
  const valid = await validate(value);
  if (!valid.ok) throw wrongShape(valid.problem);
  return valid.value;
}

function wrongShape(problem: string): AgentError {
  const message = `The response does not have the requested shape: ${problem}.`;
  return new AgentError({ kind: 'agent', code: 'output', message });
}
