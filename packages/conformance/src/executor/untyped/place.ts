import type { Agent, ExecutorOptions, Prompt, RunOptions, RunResult, Store, Tool } from '@cobbler/agent';
import { AgentError, memoryStore, systemRuntime } from '@cobbler/agent';
import { exportSession, importSession } from '@cobbler/agent/format';
import type { RunFixture } from '@cobbler/agent/testing';
import {
  ContractFailure,
  calls,
  modelResponse,
  probeTools,
  scriptedModel,
  textResponse,
} from '@cobbler/agent/testing';
import type { OddValue } from './values.ts';

/** An argument, a field of one, or the result of a function of the caller. */
export interface Place {
  /** The function and the argument or field, such as `run: options.sessionId`. */
  readonly name: string;
  /** Words of which an error must contain one, such as the path of the field. */
  readonly words: readonly string[];
  /** Passes the value at this place and uses what results from it. Returns the outcome. */
  pass(setup: RunFixture, value: unknown): unknown;
}

/** Words for a field in messages that describe its value. */
const descriptions: Readonly<Record<string, readonly string[]>> = {
  sessionId: ['session id', 'session '],
  schema: ['options.output'],
  approvalId: ['answer'],
  prompt: ['session'],
  signal: ['cannot be described', 'aborted'],
};

/** Defines a place. The words default to the last field of the name. */
export function place(name: string, pass: Place['pass'], ...words: string[]): Place {
  const field = name.replace(/^.*[:.]\s*/, '');
  return { name, pass, words: [...(words.length > 0 ? words : [field]), ...(descriptions[field] ?? [])] };
}

/** Names of the values that never answer. */
const silent: ReadonlySet<string> = new Set([
  'a promise that never resolves',
  'a thenable that never resolves',
  'a function that returns itself for everything',
]);

/**
 * Returns whether a value belongs at a place. A function without a time limit waits for lines that never
 * come, and a runner measures the whole input.
 */
export function belongs({ name }: Place, odd: OddValue): boolean {
  if (name.startsWith('runner.')) return odd.name !== 'a sparse array of the maximum length';
  return !(name.startsWith('importSession: lines') && silent.has(odd.name));
}

/** Passes a value as an untyped caller does. */
export function untyped<Type>(value: unknown): Type {
  return value as Type;
}

/** Maximum time of one call by the real clock, in milliseconds. */
const maxMs = 5_000;

/**
 * Passes one value at one place.
 * @returns whether it was rejected, and undefined if it was accepted.
 * @throws ContractFailure for another error than an AgentError with a code and the place of the value, for a call that
 * does not end, and for a log that cannot be imported.
 */
export async function passAt(at: Place, odd: OddValue, setup: RunFixture): Promise<boolean> {
  const value = odd.make();
  const began = systemRuntime.monotonic();
  const { error } = await setup.until(failureOf(at, setup, value));
  const took = systemRuntime.monotonic() - began;
  if (took > maxMs) throw new ContractFailure(`took ${Math.round(took)} ms`);
  if (error !== undefined) checkError(error, at.words);
  await checkLogs(setup.healthy);
  return error !== undefined;
}

/** Returns what a call threw, or the error of a failed run. In an object, because it can be a thenable. */
async function failureOf(at: Place, setup: RunFixture, value: unknown): Promise<{ readonly error: unknown }> {
  try {
    return { error: failureIn(await at.pass(setup, value)) };
  } catch (thrown) {
    return { error: thrown ?? new TypeError(`${thrown} was thrown`) };
  }
}

function failureIn(outcome: unknown): unknown {
  const { status, error } = (outcome ?? {}) as Partial<RunResult>;
  return status === 'failed' ? error : undefined;
}

/** Throws ContractFailure for anything but an AgentError with a code, whose message contains one of these words. */
export function checkError(error: unknown, words: readonly string[]): void {
  if (!AgentError.is(error)) throw new ContractFailure(`throws ${describe(error)}`);
  const { code = '', message } = error;
  if (code === '') throw new ContractFailure(`has no code: ${message}`);
  if (!words.some((word) => message.includes(word)))
    throw new ContractFailure(`does not name ${words.join(' or ')}: ${message}`);
}

function describe(thrown: unknown): string {
  try {
    return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
  } catch {
    return 'a value that cannot be read';
  }
}

/** Checks that each session can be exported, and that what was exported can be imported. */
export async function checkLogs(store: Store): Promise<void> {
  for (const sessionId of await store.sessions()) {
    const lines: string[] = [];
    for await (const line of exportSession(store, sessionId)) lines.push(line);
    const { events } = await importSession(memoryStore(), lines, 'imported');
    if (events !== lines.length)
      throw new ContractFailure(`only ${events} of ${lines.length} events were imported`);
  }
}

/** Returns an agent that calls the tool `one` and then responds. */
export function toolCallingAgent(): Agent {
  return scriptedModel([
    calls([{ name: 'one', arguments: { list: ['a'] } }]),
    ...Array.from({ length: 8 }, (_, turn) => textResponse(`Done ${turn}.`)),
  ]);
}

/** Returns an agent whose response is JSON, for structured output. */
export function structured(): Agent {
  return scriptedModel([modelResponse([{ type: 'text', text: '{"a":"b"}' }])]);
}

/** Returns the tool `one` with some fields replaced. */
export function toolWith(fields: object = {}): Tool {
  return { ...probeTools().tool('one'), ...fields };
}

/** Runs a prompt with these options and returns the result. */
export function runPrompt(
  setup: RunFixture,
  options: object = {},
  prompt: unknown = 'Go.',
  rest: unknown = {},
): Promise<RunResult> {
  const given = { agent: toolCallingAgent(), tools: [toolWith()], ...options };
  const run = setup
    .executor(untyped<ExecutorOptions>(given))
    .run(untyped<Prompt>(prompt), untyped<RunOptions>(rest));
  return run.result;
}
