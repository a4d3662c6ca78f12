import type { Runtime } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { ProcessEnd, SupervisedProcess } from '@cobbler/agent/node';
import { superviseProcess } from '@cobbler/agent/node';
import type { Sandbox } from '@cobbler/agent/sandbox';
import { defined } from '@cobbler/agent/values';
import type { BackendRequest, CallDecision } from '../backend/backend.ts';
import type { BackendEvent, End } from '../events/backend-event.ts';
import { beginsObject, objectIn } from '../events/fields.ts';
import { maxOutput } from '../events/final-text.ts';
import { isMalformed, malformedError } from '../events/garbled.ts';
import type { CliAdapter, CliConnection } from './cli-adapter.ts';
import { LineReader } from './line-reader.ts';

/** Time limit for a program to exit after its result, in milliseconds. */
const lastWordMs = 5000;

/** Maximum number of bytes that a program prints, because its events stay in memory until its task has ended. */
const maxPrintedBytes = 268_435_456;

/** Time limit for a program to stop on request, in milliseconds. */
const interruptMs = 250;

/** Options of one start of a program. */
export interface CliProcessOptions {
  readonly adapter: CliAdapter;
  readonly program: string;
  readonly request: BackendRequest;
  readonly env: Readonly<Record<string, string>>;
  /** The address of the relay that adds the program's key. */
  readonly address?: string | undefined;
  readonly timeoutMs: number;
  readonly graceMs?: number | undefined;
  readonly sandbox?: Sandbox | undefined;
  readonly runtime: Runtime;
  /** Strings that are removed from everything the program prints. */
  readonly secrets: readonly string[];
  readonly onEvent: (event: BackendEvent) => void;
}

/** The outcome of one program process. */
export interface CliProcess {
  readonly cause: ProcessEnd['cause'];
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly end?: End;
  readonly sessionId?: string;
  readonly toolCalls: number;
  /** The last text from the model, for programs whose result contains none. */
  readonly lastText: string;
  /** Names of tools whose calls were denied. */
  readonly denied: readonly string[];
  readonly problem?: AgentError;
  /** The start and end of its output. */
  readonly stdout: string;
  readonly stderr: string;
}

/** A running program process. */
export interface RunningCliProcess {
  readonly over: Promise<CliProcess>;
  stop(): void;
  decide(callId: string, decision: CallDecision): void;
  steer(text: string): boolean;
}

/** Starts a program, communicates with it and supervises everything it starts until all of it has ended. */
export function runCliProcess(options: CliProcessOptions): RunningCliProcess {
  const { adapter, program, request, runtime, secrets } = options;
  let child: SupervisedProcess | undefined;
  let isStopping = false;
  let cancelStop = () => {};
  const stopWithin = (ms: number) => {
    cancelStop();
    cancelStop = runtime.timer(ms, () => child?.stop());
  };
  const output = new CliOutput(options.onEvent);
  const connection: CliConnection = adapter.connect(request, (line) => child?.write(`${line}\n`));
  let isOver = false;
  const readLine = (line: string) => {
    // A message cut off by the end of the program: its result is missing, which is reported with the raw output.
    if (isOver && objectIn(line) === undefined) return;
    for (const event of connection.handle(redact(line, secrets))) {
      output.take(event);
      if (event.type !== 'end') continue;
      child?.endInput();
      stopWithin(isStopping ? interruptMs : lastWordMs);
    }
  };
  const stopWith = (problem: AgentError) => {
    output.problem ??= problem;
    child?.stop();
  };
  const lines = new LineReader(readLine, (head, why) => {
    if (!beginsObject(head)) return;
    const tooLarge = 'a message of more than 16 MiB, which cannot be read';
    stopWith(why === 'long' ? tooLong(adapter.name, tooLarge) : notText(adapter.name));
  });
  let printed = 0;
  child = superviseProcess({
    argv: [program, ...adapter.argv(request, options.address)],
    cwd: request.workingDir,
    env: options.env,
    input: connection.opening,
    keepInputOpen: connection.staysOpen,
    timeoutMs: options.timeoutMs,
    ...defined({ graceMs: options.graceMs, sandbox: options.sandbox }),
    maxOutputBytes: maxOutput,
    onOutput: (chunk, stream) => {
      if (stream !== 'stdout') return;
      printed += chunk.length;
      if (printed <= maxPrintedBytes) lines.push(chunk);
      else stopWith(tooLong(adapter.name, 'more than 256 MiB'));
    },
    runtime,
  });
  const over = child.ended.then((ended) => {
    cancelStop();
    isOver = true;
    lines.end();
    for (const text of ended.undone) options.onEvent({ type: 'notice', text });
    return output.resultOf(ended, secrets);
  });
  return {
    over,
    stop: () => {
      if (isStopping || connection.interrupt === undefined) return child.stop();
      isStopping = true;
      connection.interrupt();
      stopWithin(interruptMs);
    },
    decide: (callId, decision) => {
      if (decision.type === 'deny') output.deny(callId);
      connection.decide?.(callId, decision);
    },
    steer: (text) => connection.steer?.(text) ?? false,
  };
}

/** Collects the output of a program. Output after its result is ignored. */
class CliOutput {
  /** Why the output cannot be trusted. */
  problem: AgentError | undefined;
  readonly #tell: (event: BackendEvent) => void;
  /** Calls without a result so far; some programs report a call twice. */
  readonly #calls: Set<string> = new Set();
  readonly #toolNames: Map<string, string> = new Map();
  readonly #denied: string[] = [];
  #toolCalls = 0;
  #lastText = '';
  #end: End | undefined;
  #sessionId: string | undefined;

  constructor(tell: (event: BackendEvent) => void) {
    this.#tell = tell;
  }

  take(event: BackendEvent): void {
    // Only a message that proves a gap counts after the result.
    if (this.#end?.ok && isMalformed(event)) this.#end = event;
    if (this.#end !== undefined) return;
    if (event.type === 'session') this.#sessionId = event.id;
    if (event.type === 'end') this.#end = event;
    if (event.type === 'asked') this.#toolNames.set(event.callId, event.toolName);
    if (event.type === 'result') this.#calls.delete(event.callId);
    if (event.type === 'part' && event.part.type === 'text') this.#lastText = event.part.text;
    if (event.type === 'part' && event.part.type === 'tool_call') {
      if (this.#calls.has(event.part.id)) return;
      this.#calls.add(event.part.id);
      this.#toolCalls += 1;
    }
    this.#tell(event);
  }

  deny(callId: string): void {
    const toolName = this.#toolNames.get(callId);
    if (toolName !== undefined) this.#denied.push(toolName);
  }

  resultOf(
    { cause, code, signal, error, stdout, stderr }: ProcessEnd,
    secrets: readonly string[],
  ): CliProcess {
    return {
      cause,
      exitCode: code,
      signal,
      ...defined({ end: this.#end, sessionId: this.#sessionId }),
      toolCalls: this.#toolCalls,
      lastText: this.#lastText,
      denied: this.#denied,
      ...((this.problem ?? error) !== undefined && { problem: this.problem ?? error }),
      stdout: redact(stdout.text(), secrets),
      stderr: redact(stderr.text(), secrets),
    };
  }
}

/** Returns the error for a lost message, which may contain the program's result. */
function tooLong(name: string, what: string): AgentError {
  const message = `${name} was stopped: it printed ${what}. Request a shorter response, or have long output written to a file.`;
  return new AgentError({ kind: 'agent', code: 'message_too_long', message });
}

/** Returns the error for a message whose characters are damaged. */
function notText(name: string): AgentError {
  return new AgentError(malformedError(name, 'a message is not UTF-8'));
}

/** Returns the error of a program that failed without reporting a reason. */
export function silentFailure(
  { exitCode, signal, stderr, stdout, end }: CliProcess,
  program: string,
): AgentError {
  const how =
    exitCode === null ? `was terminated by ${signal ?? 'a signal'}` : `exited with code ${exitCode}`;
  const lastOutput = (stderr.trim() || stdout.trim()).slice(-2000);
  const missing = end === undefined ? ' before reporting a result' : ' after reporting a result';
  return new AgentError({
    kind: 'agent',
    code: end === undefined ? 'no_end' : 'bad_exit',
    message: `${program} ${how}${missing}.${lastOutput === '' ? '' : ` Output: ${lastOutput}`}`,
  });
}

/** Removes keys from a text, even if the program or its service repeats them (reliability promise 19). */
function redact(text: string, secrets: readonly string[]): string {
  return secrets.reduce(
    (rest, secret) => (rest.includes(secret) ? rest.replaceAll(secret, '[key]') : rest),
    text,
  );
}
