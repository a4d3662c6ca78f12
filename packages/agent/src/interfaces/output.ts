import { checkSchema } from '../json-schema/check-schema.ts';
import { AgentError } from '../values/errors.ts';
import type { JsonObject } from '../values/json.ts';
import { isObject } from '../values/json.ts';
import type { Agent, OutputShape } from './agent.ts';
import type { StandardSchema } from './standard-schema.ts';
import { canonicalSchema } from './standard-schema.ts';
import type { Tool } from './tool.ts';
import { defineTool } from './tool.ts';

/**
 * The required shape of a response: a zod schema, another Standard Schema or JSON Schema. Its type must be `object`.
 */
export interface OutputOption<Output> {
  /** Name of the shape. Default `answer`. */
  readonly name?: string;
  readonly schema: StandardSchema<Output> | JsonObject;
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

/**
 * Plans how to get output in a shape from this agent.
 * @throws AgentError `invalid` if the agent does not support it.
 */
export function planOutput<Output>(agent: Agent, option: OutputOption<Output>): OutputPlan<Output> {
  const name = option.name ?? 'answer';
  const probe = defineTool({
    name,
    description: 'Gives the final answer. Call it once, when the work is done; its arguments are the answer.',
    parameters: option.schema as StandardSchema<Record<string, unknown>>,
    effect: 'read',
    execute: (args) => JSON.stringify(args),
  });
  const shape = { name, schema: canonicalSchema(probe.parameters) };
  const parse = (text: string) => parseOutput(text, probe, option.schema);
  if (agent.capabilities.output === 'native') return { shape, parse };
  if (agent.capabilities.output === 'tool') return { tool: probe, parse };
  throw new AgentError({
    kind: 'invalid',
    code: 'unsupported',
    message: `${agent.provider} with model ${agent.model} does not support structured output.`,
  });
}

async function parseOutput<Output>(
  text: string,
  tool: Tool,
  schema: StandardSchema<Output> | JsonObject,
): Promise<Output> {
  const value = readJson(text);
  if (!isObject(value)) throw wrongShape('it is not a JSON object');
  if (tool.validate === undefined) {
    const problem = await checkSchema(schema as JsonObject, value);
    if (problem !== undefined) throw wrongShape(problem);
    return value as Output;
  }
  const valid = await tool.validate(value);
  if (!valid.ok) throw wrongShape(valid.problem);
  return valid.value as Output;
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function wrongShape(problem: string): AgentError {
  return new AgentError({
    kind: 'agent',
    code: 'output',
    message: `The response does not have the requested shape: ${problem}.`,
  });
}
