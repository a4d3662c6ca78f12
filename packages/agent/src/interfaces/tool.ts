import { checkSchema } from '../json-schema/check-schema.ts';
import { schemaFault } from '../json-schema/schema-issue.ts';
import { AgentError } from '../values/errors.ts';
import type { JsonObject } from '../values/json.ts';
import { isObject } from '../values/json.ts';
import type { ToolResultPart } from '../values/message.ts';
import type { Budget } from './limits.ts';
import type { StandardSchema } from './standard-schema.ts';
import { canonicalSchema } from './standard-schema.ts';

/**
 * What running a tool does to the world, which decides what happens after a crash: `read` changes nothing,
 * `idempotent` may safely run again, `once` must never run twice.
 */
export type ToolEffect = 'read' | 'idempotent' | 'once';

/** What a tool is given besides its arguments. */
export interface ToolContext {
  /** Aborted on cancel, on the tool's time limit and when the run ends. */
  readonly signal: AbortSignal;
  /** The provider's id of the call. */
  readonly callId: string;
  /** The same for every attempt at this call, different for every other call. */
  readonly idempotencyKey: string;
  /** Tells watchers what is going on; never reaches the model. */
  progress(text: string): void;
  /** The budget of the whole tree of work: a tool that asks models must draw on it. */
  readonly budget: Budget;
}

/** What a tool shows before it runs, for a person who decides whether it may. */
export interface ToolPreview {
  /** One short phrase, such as `+3 -1`. */
  readonly summary?: string;
  /** A unified diff of what would change. */
  readonly diff?: string;
}

/**
 * A function that the model may call. A plain object with `name`, `description`, `parameters` and
 * `execute` is a tool already; `defineTool` adds typed arguments.
 */
export interface Tool {
  /** Letters, digits, `_` and `-`, at most 64: what every provider accepts. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments; its type is `object`. */
  readonly parameters: JsonObject;
  /** Returns a string, or any value that JSON can hold, or {@link ToolOutput}. A throw becomes an error result. */
  execute(args: Record<string, unknown>, context: ToolContext): unknown;
  /** Default `once`. */
  readonly effect?: ToolEffect;
  /** Default 120,000 ms. */
  readonly timeoutMs?: number;
  /** Most bytes of output that reach the model. Default and ceiling 256 KiB. */
  readonly maxOutputBytes?: number;
  /**
   * True for a tool that looks whether something has happened yet: the same call with the same result again
   * is nothing unusual then and does not count as lack of progress. Default false.
   */
  readonly mayRepeat?: boolean;
  /** Names of things this tool must have to itself; tools that share a name never run together. */
  readonly locks?: readonly string[];
  /** The one argument that matters, as one line: what a person sees and what permission rules match. */
  subject?(args: Record<string, unknown>): string;
  /**
   * Why a person has to look at this call, in words, whatever else is allowed: a write to a file that other programs
   * run, for example. Nothing for an ordinary call. It is asked again before the call runs; a reason that was not
   * known when the call was decided keeps it from running.
   */
  mustAsk?(args: Record<string, unknown>): string | undefined;
  /** What would happen, for an approval. Must not change anything. */
  preview?(args: Record<string, unknown>): Promise<ToolPreview>;
  /** Checks arguments and may convert them. Absent: checked against `parameters`. */
  validate?(args: Record<string, unknown>): Validation | Promise<Validation>;
}

/** Either usable arguments or the reason why they are not, in words for the model. */
export type Validation =
  | { readonly ok: true; readonly value: Record<string, unknown> }
  | { readonly ok: false; readonly problem: string };

const outputBrand = Symbol.for('cobbler.ToolOutput');

/** A result with more than text: parts for the model, and facts for watchers that the model does not see. */
export interface ToolOutput {
  readonly content: string | readonly ToolResultPart[];
  /** True: the model is told that the call failed. */
  readonly isError?: boolean;
  /** One short phrase for watchers, such as `exit 1`. */
  readonly summary?: string;
  /** A unified diff of what changed, for watchers. */
  readonly diff?: string;
}

/** Marks a value as {@link ToolOutput}, so that no ordinary object is taken for one. */
export function toolOutput(output: ToolOutput): ToolOutput {
  return Object.defineProperty({ ...output }, outputBrand, { value: true });
}

/** Recognises what {@link toolOutput} made, across copies of this package. */
export function isToolOutput(value: unknown): value is ToolOutput {
  return isObject(value) && outputBrand in value;
}

/** What `defineTool` takes: parameters as zod, any Standard Schema that gives JSON Schema, or JSON Schema. */
export interface ToolDefinition<Args>
  extends Omit<Tool, 'parameters' | 'execute' | 'subject' | 'mustAsk' | 'preview' | 'validate'> {
  readonly parameters: StandardSchema<Args> | JsonObject;
  execute(args: Args, context: ToolContext): unknown;
  subject?(args: Args): string;
  mustAsk?(args: Args): string | undefined;
  preview?(args: Args): Promise<ToolPreview>;
}

/**
 * Makes a tool whose arguments are checked before `execute` and typed in it.
 * @throws AgentError `invalid` for a name no provider accepts or a schema that does not describe an object.
 */
export function defineTool<Args = Record<string, unknown>>(definition: ToolDefinition<Args>): Tool {
  const { parameters, ...rest } = definition;
  const standard = isStandardSchema<Args>(parameters) ? parameters : undefined;
  const schema =
    standard === undefined ? (parameters as JsonObject) : jsonSchemaOf(definition.name, standard);
  const tool = {
    ...rest,
    parameters: canonicalSchema(schema),
    ...(standard !== undefined && {
      validate: (args: Record<string, unknown>) => validateStandard(standard, args),
    }),
  } as Tool;
  checkTool(tool);
  return tool;
}

/** A tool that returns a string, with its schema under another name (requirement S4.3). */
export interface FlatTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  execute(input: Record<string, unknown>, context: { signal: AbortSignal }): Promise<string>;
}

/** Returns a flat tool as a tool. */
export function fromFlatTool(flat: FlatTool): Tool {
  return defineTool({
    name: flat.name,
    description: flat.description,
    parameters: flat.inputSchema,
    execute: (args, context) => flat.execute(args, context),
  });
}

const effects: ReadonlySet<string> = new Set(['read', 'idempotent', 'once']);

/**
 * @throws AgentError `invalid` when no provider would accept the tool.
 */
export function checkTool(tool: Tool): void {
  if (!isObject(tool)) {
    const message = `A tool is invalid: it is ${tool === null ? 'null' : `a value of type ${typeof tool}`}. Use what defineTool returns.`;
    throw new AgentError({ kind: 'invalid', code: 'bad_tool', message });
  }
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(tool.name)) {
    throw new AgentError({
      kind: 'invalid',
      code: 'tool_name',
      message: `Tool name ${JSON.stringify(tool.name)} is not usable: 1 to 64 letters, digits, "_" or "-".`,
    });
  }
  if (!isObject(tool.parameters) || tool.parameters['type'] !== 'object') {
    throw new AgentError({
      kind: 'invalid',
      code: 'tool_schema',
      message: `The parameters of tool ${tool.name} must be a JSON Schema whose type is "object".`,
    });
  }
  const fault = schemaFault(tool.parameters);
  if (fault !== undefined) {
    const message = `The parameters of tool ${tool.name} are not a usable JSON Schema: ${fault}. Correct that place.`;
    throw new AgentError({ kind: 'invalid', code: 'tool_schema', message });
  }
  if (typeof tool.execute !== 'function') {
    const message = `Tool ${tool.name} cannot be run: its execute is not a function.`;
    throw new AgentError({ kind: 'invalid', code: 'bad_tool', message });
  }
  // An unknown word would decide whether the tool may run twice.
  if (tool.effect !== undefined && !effects.has(tool.effect)) {
    const message = `The effect of tool ${tool.name} must be one of ${[...effects].join(', ')}; it is ${JSON.stringify(tool.effect)}.`;
    throw new AgentError({ kind: 'invalid', code: 'bad_tool', message });
  }
}

/** Checks the model's arguments against the tool's own rules. Never throws. */
export async function validateArguments(tool: Tool, args: Record<string, unknown>): Promise<Validation> {
  try {
    if (tool.validate !== undefined) return checkedValidation(await tool.validate(args));
    const problem = await checkSchema(tool.parameters, args);
    return problem === undefined ? { ok: true, value: args } : { ok: false, problem };
  } catch (error) {
    return {
      ok: false,
      problem: `The arguments could not be checked: ${AgentError.from(error, 'tool').message}`,
    };
  }
}

/** What a tool's own check answered, if it is an answer. */
function checkedValidation(answer: unknown): Validation {
  if (isObject(answer)) {
    const { ok, value, problem } = answer;
    // A schema may make anything of the arguments.
    if (ok === true && 'value' in answer) return { ok, value: value as Record<string, unknown> };
    if (ok === false && typeof problem === 'string') return { ok, problem };
  }
  return { ok: false, problem: 'The check of the arguments gave no answer that can be understood.' };
}

function isStandardSchema<Args>(value: StandardSchema<Args> | JsonObject): value is StandardSchema<Args> {
  return isStandard(value);
}

function isStandard(value: unknown): value is StandardSchema<unknown> {
  return (typeof value === 'object' || typeof value === 'function') && value !== null && '~standard' in value;
}

function jsonSchemaOf<Args>(name: string, schema: StandardSchema<Args>): JsonObject {
  const convert = schema['~standard'].jsonSchema;
  if (convert === undefined) {
    throw new AgentError({
      kind: 'invalid',
      code: 'tool_schema',
      message: `The schema of tool ${name} cannot be turned into JSON Schema. Use zod 4.2 or later, or give JSON Schema.`,
    });
  }
  try {
    return convert.input({ target: 'draft-2020-12' }) as JsonObject;
  } catch (thrown) {
    const field = ['parameters', ...unrepresentable(schema)].join('.');
    const why = AgentError.from(thrown).message;
    throw new AgentError({
      kind: 'invalid',
      code: 'tool_schema',
      message: `Tool ${JSON.stringify(name)} is invalid: ${field} cannot be written as JSON Schema (${why}). Use a type that JSON has, such as a string for a date.`,
    });
  }
}

/** The path to the first field whose schema cannot be written as JSON Schema, as far as the library shows its fields. */
function unrepresentable(schema: unknown): string[] {
  for (const [field, child] of fieldsOf(schema)) {
    try {
      if (isStandard(child)) child['~standard'].jsonSchema?.input({ target: 'draft-2020-12' });
    } catch {
      return [...field, ...unrepresentable(child)];
    }
  }
  return [];
}

/** As zod shows them: the fields of an object, the elements of a list, the options of a union, what is optional. */
function fieldsOf(schema: unknown): (readonly [path: readonly string[], schema: unknown])[] {
  const parts = readable(schema);
  const inner = readable(readable(parts?.['def'])?.['innerType']);
  return [
    ...Object.entries(readable(parts?.['shape']) ?? {}).map(([name, field]) => [[name], field] as const),
    ...(parts?.['element'] === undefined ? [] : [[['[]'], parts['element']] as const]),
    ...(Array.isArray(parts?.['options']) ? parts['options'].map((option) => [[], option] as const) : []),
    ...(inner === undefined ? [] : [[[], inner] as const]),
  ];
}

function readable(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
}

async function validateStandard<Args>(
  schema: StandardSchema<Args>,
  args: Record<string, unknown>,
): Promise<Validation> {
  const result = await schema['~standard'].validate(args);
  if (result.issues === undefined) return { ok: true, value: result.value as Record<string, unknown> };
  const lines = result.issues.slice(0, 5).map((issue) => {
    const path = (issue.path ?? [])
      .map((step) => String(typeof step === 'object' ? step.key : step))
      .join('.');
    return path === '' ? issue.message : `${path}: ${issue.message}`;
  });
  return { ok: false, problem: lines.join('; ') };
}
