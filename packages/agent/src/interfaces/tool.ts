import { checkArguments } from '../json-schema/check-schema.ts';
import { schemaFault } from '../json-schema/schema-issue.ts';
import { defined } from '../values/defined.ts';
import { AgentError, withArgumentErrors } from '../values/errors.ts';
import type { Reader, Readers } from '../values/input.ts';
import {
  amount,
  any,
  callable,
  coded,
  count,
  data,
  flag,
  invalid,
  listOf,
  oneOf,
  read,
  record,
  text,
  when,
} from '../values/input.ts';
import type { JsonObject } from '../values/json.ts';
import { isObject } from '../values/json.ts';
import { isThenable } from '../values/thenable.ts';
import type { Budget } from './budget.ts';
import type { FieldSchemas, FieldTypes, Validation } from './schema.ts';
import { readObjectSchema } from './schema.ts';
import type { StandardSchema } from './standard-schema.ts';

export type { Validation } from './schema.ts';

/**
 * The side effects of a tool, which determine what happens after a crash: `read` changes nothing, `idempotent` can
 * safely run again, `once` must never run twice.
 */
export type ToolEffect = 'read' | 'idempotent' | 'once';

/** The context in which a tool runs. */
export interface ToolContext {
  /** Aborted on cancellation, at the tool's time limit and when the run ends. */
  readonly signal: AbortSignal;
  /** The provider's id of the call. */
  readonly callId: string;
  /** The session of the run; absent if the tool is not called by a run. */
  readonly sessionId?: string | undefined;
  /** The same for every attempt at this call, and different for every other call. */
  readonly idempotencyKey: string;
  /** The user that the run is for, if it is known. It says whose costs these are, but does not prove who acts. */
  readonly user?: string | undefined;
  /** Reports progress to users; never reaches the model. Several lines are reported together. */
  progress(text: string): void;
  /** Records a step of this call in the log, for users; never reaches the model. The first 500 steps are kept. */
  step?(step: ToolStep): void;
  /**
   * Asks a user about a step of this call, such as a call of a sub-agent: an approval of the run, like any other. Questions
   * of one call are asked one after another. Waits until a user decides, even in a run that is not attended. The time limit
   * of the tool continues during the wait. Everything except a clear allow counts as `deny`, even the end of the call.
   */
  ask?(question: ToolQuestion): Promise<ToolAnswer>;
  /**
   * A budget for this call, inside that of the run. A tool that sends model requests must charge them to it, or pass it
   * to the runs that it starts: what is charged is recorded in the log of the run. Created when it is first read.
   */
  readonly budget: Budget;
  /** The wait before this call; absent if its tool has no `waitUntil`. */
  readonly wait?: ToolWait | undefined;
  /**
   * The changes that a user allowed, if the preview of the call contained changes. A tool must make exactly these changes,
   * or throw without changing anything.
   */
  readonly approved?: readonly PlannedChange[] | undefined;
}

/** What a call has done so far, such as a response or a call of a sub-agent. */
export interface ToolStep {
  /** At most 1,000 bytes are kept. */
  readonly text: string;
  /** The tool that it called; `text` is then what it was called with. */
  readonly called?: string | undefined;
  readonly isError?: boolean | undefined;
}

/** A step of a call that a user must decide on. */
export interface ToolQuestion extends Pick<ToolPreview, 'summary' | 'diff'> {
  readonly toolName: string;
  readonly arguments: Record<string, unknown>;
  /** The one argument that matters. */
  readonly subject?: string;
  /** The reason why a user must decide. */
  readonly mustAsk?: string;
}

/** The decision of a user about a step of a call. */
export interface ToolAnswer {
  readonly decision: 'allow' | 'deny';
  /** The reason, if it is `deny`. */
  readonly message?: string;
}

/** The start of a call that may wait. */
export interface WaitStart {
  /** The current time, in milliseconds since 1970. */
  readonly now: number;
  /**
   * Milliseconds until the run reaches its time limit. `Infinity` if the run is performed in steps, because it then has no
   * time limit during a wait.
   */
  readonly msLeft: number;
}

/** A wait that has ended. */
export interface ToolWait {
  /** The time until which the call was to wait, in milliseconds since 1970. */
  readonly until: number;
  /** The time at which the wait ended. */
  readonly endedAt: number;
  /** `message` if the wait ended early because the user sent a message. */
  readonly endedBy: 'time' | 'message';
}

/** A preview of a call, for the user who decides whether it may run. */
export interface ToolPreview {
  /** A short phrase, such as `+3 -1`. */
  readonly summary?: string;
  /** A unified diff of the planned changes. */
  readonly diff?: string;
  /**
   * Everything that the call would change. An approval is then valid for exactly these changes: if one of them is
   * different when the call is about to run, the user is asked again. Absent if the tool cannot know, as for a command.
   */
  readonly changes?: readonly PlannedChange[];
}

/** A change that a call would make. */
export interface PlannedChange {
  /** The target of the change; for a file, its real path relative to the workspace. */
  readonly target: string;
  /** The content before the change; absent if the target does not exist. */
  readonly before?: string | undefined;
  /** The content after the change; absent if the target is removed. */
  readonly after?: string | undefined;
}

/** The context of a preview. */
export interface PreviewContext {
  /** The changes of calls that run before this one, in order. The preview must assume that they are made. */
  readonly earlier: readonly PlannedChange[];
}

/**
 * A function that the model may call. A plain object with `name`, `description`, `parameters` and `execute` is
 * already a tool; `defineTool` adds typed arguments. `Name` and `Input`, the type of
 * the arguments before conversion, are the types in the events of a run.
 */
export interface Tool<Name extends string = string, Input = Record<string, unknown>> {
  /** 1 to 64 letters, digits, `_` and `-`, which every provider accepts. */
  readonly name: Name;
  readonly description: string;
  /** JSON Schema of the arguments; its type must be `object`. */
  readonly parameters: JsonObject;
  /** Returns a string, any other JSON value, or a {@link ToolOutput}. A thrown error becomes an error result. */
  execute(args: Record<string, unknown>, context: ToolContext): unknown;
  /** Side effects of the tool. Default `once`. */
  readonly effect?: ToolEffect;
  /** Time limit in milliseconds. Default 120,000. */
  readonly timeoutMs?: number;
  /** Maximum number of bytes of output sent to the model. Default and maximum 256 KiB. */
  readonly maxOutputBytes?: number;
  /**
   * True for a tool that checks whether something has happened yet. The same call with the same result is then
   * expected and does not count as lack of progress. Default false.
   */
  readonly mayRepeat?: boolean;
  /**
   * True if the output can contain text that other people wrote, such as web pages or mail. It is marked in the log, and
   * from then on the session's calls to tools that {@link Tool.sends | send} require a user's decision. Default false.
   */
  readonly untrusted?: boolean;
  /** True if a call can send data to other people or machines. Default false. */
  readonly sends?: boolean;
  /**
   * Number of calls of this tool that may run at the same time, and beside calls that only read, whatever its effect is.
   * Default: the limit of the run for a `read` tool, otherwise 1.
   */
  readonly concurrency?: number;
  /** Names of resources that this tool needs exclusively. Tools that share a name never run in parallel. */
  readonly locks?: readonly string[];
  /** Returns the one argument that matters, as one line. Users see it, and permission rules match it. */
  subject?(args: Record<string, unknown>): string;
  /**
   * Returns the reason why a user must decide on this call, whatever else is allowed, for example because it
   * writes a file that other programs execute. Undefined for an ordinary call. It is called again before the call
   * runs; a reason that was not known when the call was decided prevents it from running.
   */
  mustAsk?(args: Record<string, unknown>): string | undefined;
  /**
   * Returns the time until which a call waits before `execute` runs, in milliseconds since 1970; undefined if it does not
   * wait. A message of the user ends the wait early; `context.wait` tells how it ended. The time is stored, so after a
   * crash the wait ends at the same time, and with a runner no process waits. A call that waits runs alone. Only for
   * tools that are `read` or `idempotent`. A thrown error becomes an error result.
   */
  waitUntil?(args: Record<string, unknown>, start: WaitStart): number | undefined;
  /** Returns what the call would do, for an approval. Must not change anything. */
  preview?(args: Record<string, unknown>, context?: PreviewContext): Promise<ToolPreview>;
  /** Validates arguments and may convert them. Absent: they are validated against `parameters`. */
  validate?(args: Record<string, unknown>): Validation | Promise<Validation>;
  /** The types of its calls in events. Exists only for the compiler: no tool has this field. */
  readonly '~calls'?: CallTypes<Name, Input>;
}

interface CallTypes<Name, Input> {
  /** The arguments of a valid call. A mapped type, because an interface cannot be used as a record. */
  readonly valid: {
    readonly toolName: Name;
    readonly arguments: { readonly [Field in keyof Input]: Input[Field] };
  };
  /** The arguments as the model wrote them, before anything has validated them. */
  readonly proposed: {
    readonly toolName: Name;
    readonly arguments: { readonly [Field in keyof Input]?: unknown };
  };
}

/** The types of the arguments: those of `Fields`, if `parameters` is a record of schemas, otherwise `Args`. */
type ArgsOf<Args, Fields extends FieldSchemas> = string extends keyof Fields
  ? Args
  : FieldTypes<Fields, 'output'>;

/** The same types, before a schema has converted the arguments. */
type InputOf<Args, Fields extends FieldSchemas, Input> = string extends keyof Fields
  ? unknown extends Input
    ? Args
    : Input
  : FieldTypes<Fields, 'input'>;

type IsUnion<Type, Whole = Type> = Type extends unknown ? ([Whole] extends [Type] ? false : true) : never;

/** A message of the compiler, unless the schema describes one object. The input of JSON Schema is unknown. */
type ObjectInput<Input> = unknown extends Input
  ? unknown
  : [Input] extends [readonly unknown[]]
    ? NoObject
    : [Input] extends [object]
      ? IsUnion<Input> extends true
        ? NoObject
        : unknown
      : NoObject;

type NoObject = 'The parameters of a tool must be an object: use z.object({ … })';

/** The definition of a tool. */
export interface ToolDefinition<
  Args,
  Fields extends FieldSchemas = never,
  Name extends string = string,
  Input = unknown,
> extends Omit<
    Tool<Name>,
    'parameters' | 'execute' | 'subject' | 'mustAsk' | 'waitUntil' | 'preview' | 'validate' | '~calls'
  > {
  /**
   * A schema of the arguments: a zod schema, another Standard Schema, or JSON Schema. Or a record of schemas, one for
   * each argument, such as `{ city: z.string() }`.
   */
  readonly parameters: StandardSchema<Args, Input> | Fields | JsonObject;
  execute(args: ArgsOf<Args, Fields>, context: ToolContext): unknown;
  subject?(args: ArgsOf<Args, Fields>): string;
  mustAsk?(args: ArgsOf<Args, Fields>): string | undefined;
  waitUntil?(args: ArgsOf<Args, Fields>, start: WaitStart): number | undefined;
  preview?(args: ArgsOf<Args, Fields>, context?: PreviewContext): Promise<ToolPreview>;
  /** Converts a schema to JSON Schema. Needed for a library that does not provide this conversion. */
  toJsonSchema?(schema: unknown): unknown;
}

/**
 * Creates a tool whose arguments are validated before `execute` and typed in it.
 * @throws AgentError `invalid` for a name that no provider accepts, a schema that does not describe an object, or one
 * that cannot be converted to JSON Schema.
 */
export function defineTool<
  Args = Record<string, unknown>,
  Fields extends FieldSchemas = never,
  Name extends string = string,
  Input = unknown,
>(
  definition: ToolDefinition<Args, Fields, Name, Input> & ObjectInput<Input>,
): Tool<Name, InputOf<Args, Fields, Input>> {
  const given = read(definition, definitionFields, 'definition', 'bad_tool');
  const { toJsonSchema, parameters, ...rest } = given;
  const place = { owner: `Tool ${JSON.stringify(rest.name)}`, path: 'parameters', toJsonSchema };
  const { json, validate } = read(
    parameters,
    (schema) => readObjectSchema(schema, place),
    'definition.parameters',
    'tool_schema',
  );
  const tool = { ...rest, parameters: json, ...defined({ validate }) };
  return read(tool, readTool, 'definition') as Tool<Name, InputOf<Args, Fields, Input>>;
}

/** A tool that returns a string and has its schema in `inputSchema` (requirement S4.3). */
export interface FlatTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  execute(input: Record<string, unknown>, context: { signal: AbortSignal }): Promise<string>;
}

/** Converts a flat tool to a tool. */
export function fromFlatTool(flat: FlatTool): Tool {
  return withArgumentErrors('fromFlatTool', () =>
    defineTool({
      name: flat.name,
      description: flat.description,
      parameters: flat.inputSchema,
      execute: (args, context) => flat.execute(args, context),
    }),
  );
}

type ToolFields = Omit<Tool, '~calls'>;

const toolReaders: Readers<ToolFields> = {
  name: coded(
    'tool_name',
    when(
      (name) => typeof name === 'string' && /^[A-Za-z0-9_-]{1,64}$/.test(name),
      '1 to 64 letters, digits, "_" or "-"',
    ),
  ),
  description: text,
  parameters: coded('tool_schema', (value) => {
    const schema = data<JsonObject>(value);
    if (!isObject(schema)) throw invalid(schema, 'Use a JSON Schema whose type is "object"');
    if (schema['type'] !== 'object')
      throw invalid(schema['type'], 'Use a JSON Schema whose type is "object"', '.type');
    const fault = schemaFault(schema);
    if (fault !== undefined) throw invalid(schema, `Correct the JSON Schema: ${fault}`);
    return schema;
  }),
  execute: callable,
  // The effect determines whether the tool may run twice, so an unknown value is an error.
  effect: oneOf('read', 'idempotent', 'once'),
  timeoutMs: amount,
  maxOutputBytes: amount,
  mayRepeat: flag,
  untrusted: flag,
  sends: flag,
  concurrency: count,
  locks: listOf(text),
  subject: callable,
  mustAsk: callable,
  waitUntil: callable,
  preview: callable,
  validate: callable,
};

const required = ['name', 'description', 'execute'] as const;
const toolFields = record<ToolFields>(
  toolReaders,
  [...required, 'parameters'],
  'a tool returned by defineTool',
);

interface Definition extends Omit<ToolFields, 'parameters'> {
  readonly parameters: unknown;
  readonly toJsonSchema?: (schema: unknown) => unknown;
}

const definitionFields = record<Definition>(
  { ...toolReaders, parameters: any, toJsonSchema: callable },
  required,
);

const known = new WeakMap<object, { readonly tool: Tool; readonly values: readonly unknown[] }>();

/**
 * Reads a tool. Later changes to its fields have no effect on the result. An object whose fields have not changed since it was
 * last read gives the same tool, because providers use its identity to find cached bytes.
 * @throws AgentError `invalid` if no provider would accept the tool.
 */
export const readTool: Reader<Tool> = coded('bad_tool', (value) => {
  const before = isObject(value) ? known.get(value) : undefined;
  if (before !== undefined && before.tool === value) return before.tool;
  const tool = toolFields(value);
  // After a crash the log cannot tell whether a call still waited or already ran.
  if (tool.waitUntil !== undefined && (tool.effect ?? 'once') === 'once')
    throw invalid(tool.effect, 'Use "read" or "idempotent", because the tool has waitUntil', '.effect');
  const given = value as Record<string, unknown>;
  const values = [JSON.stringify(tool), ...Object.keys(tool).map((name) => given[name])];
  if (before !== undefined && isSame(before.values, values)) return before.tool;
  known.set(tool, { tool, values });
  known.set(given, { tool, values });
  return tool;
});

function isSame(left: readonly unknown[], right: readonly unknown[]): boolean {
  return left.length === right.length && left.every((value, index) => value === right[index]);
}

/** Validates arguments by the tool's own rules. Never throws or rejects. A promise only if the rules or the schema need it. */
export function validateArguments(
  tool: Tool,
  args: Record<string, unknown>,
): Validation | Promise<Validation> {
  try {
    if (tool.validate !== undefined) {
      const answer: unknown = tool.validate(args);
      return isThenable(answer) ? validatedLater(answer, checkedValidation) : checkedValidation(answer);
    }
    const problem = checkArguments(tool.parameters, args);
    if (problem === undefined) return { ok: true, value: args };
    if (typeof problem === 'string') return { ok: false, problem };
    return validatedLater(problem, (text) =>
      text === undefined ? { ok: true, value: args } : { ok: false, problem: text },
    );
  } catch (thrown) {
    return notValidated(thrown);
  }
}

async function validatedLater<Found>(
  pending: PromiseLike<Found>,
  validationOf: (found: Found) => Validation,
): Promise<Validation> {
  try {
    return validationOf(await pending);
  } catch (thrown) {
    return notValidated(thrown);
  }
}

function notValidated(thrown: unknown): Validation {
  const { message } = AgentError.from(thrown, 'tool');
  return { ok: false, problem: `The arguments could not be validated: ${message}` };
}

/** Returns the result of a tool's own validation, or a failure if it is malformed. */
function checkedValidation(answer: unknown): Validation {
  if (isObject(answer)) {
    const { ok, value, problem } = answer;
    // A schema can convert the arguments to anything.
    if (ok === true && 'value' in answer) return { ok, value: value as Record<string, unknown> };
    if (ok === false && typeof problem === 'string') return { ok, problem };
  }
  return { ok: false, problem: 'The argument validator returned an invalid result.' };
}
