import type { AgentError as AgentErrorType, Runtime, Usage } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import type { HarnessCapabilities } from '@cobbler/agent/harness';
import { read, text } from '@cobbler/agent/input';
import type { Sandbox } from '@cobbler/agent/sandbox';
import { defined } from '@cobbler/agent/values';
import type {
  Backend,
  BackendContext,
  BackendProcess,
  BackendRequest,
  BackendResult,
  CallDecision,
} from '../backend/backend.ts';
import { readContext, readRequest } from '../backend/backend.ts';
import { readDecision } from '../backend/call-decision.ts';
import type { BackendEvent } from '../events/backend-event.ts';
import { limitText } from '../events/final-text.ts';
import type { CliAdapter } from './cli-adapter.ts';
import type { CliProcess, RunningCliProcess } from './cli-process.ts';
import { runCliProcess, silentFailure } from './cli-process.ts';
import { openRelay, programEnvironment, secretsIn } from './environment.ts';
import type { KeyRelay } from './key-relay.ts';
import { findProgram, notFound, realFolder } from './program.ts';
import type { ProgramOptions } from './program-options.ts';
import { defaultTimeoutMs } from './program-options.ts';
import { ProgramSandboxes, pathInSandbox } from './program-sandbox.ts';
import { TaskBudget } from './task-budget.ts';

/** A backend for the program of an adapter. Searches for the program once. */
export class CliBackend implements Backend {
  readonly name: string;
  readonly capabilities: HarnessCapabilities;
  readonly tellsCost: boolean;
  readonly #adapter: CliAdapter;
  readonly #options: ProgramOptions;
  readonly #program: string | undefined;
  readonly #sandboxes: ProgramSandboxes;

  constructor(adapter: CliAdapter, options: ProgramOptions) {
    this.name = adapter.name;
    this.capabilities = adapter.capabilities;
    this.tellsCost = adapter.tellsCost;
    this.#adapter = adapter;
    this.#options = options;
    const { env = process.env, extraEnv, sandboxed } = options;
    this.#program = options.path ?? findProgram(adapter.program, env);
    const sandbox = options.sandbox ?? (sandboxed === true ? 'external' : undefined);
    this.#sandboxes = new ProgramSandboxes(adapter, sandbox, { ...env, ...extraEnv });
  }

  problem(): AgentErrorType | undefined {
    const { permission, program } = this.#adapter;
    if (this.#program === undefined) return notFound(program);
    const isRoot = process.getuid?.() === 0;
    if (program !== 'claude' || permission !== 'bypass' || !isRoot || this.#options.sandboxed === true)
      return undefined;
    const message =
      'Claude Code does not accept permission "bypass" when it runs as root. Run Cobbler as another user, or set `sandboxed` if this machine is a sandbox.';
    return new AgentError({ kind: 'invalid', code: 'bypass_as_root', message });
  }

  async run(request: BackendRequest, context: BackendContext = {}): Promise<BackendResult> {
    return this.start(request, context).result;
  }

  start(request: BackendRequest, context: BackendContext = {}): BackendProcess {
    const job = new CliJob(
      {
        adapter: this.#adapter,
        path: this.#program,
        problem: this.problem(),
        sandboxes: this.#sandboxes,
      },
      this.#options,
      read(request, readRequest, 'request'),
      read(context, readContext, 'context'),
    );
    return {
      result: job.result(),
      stop: () => job.stop(),
      decide: (callId, decision) => job.decide(callId, decision),
      steer: (message) => job.steer(read(message, text, 'text')),
    };
  }
}

/** The program of a task. */
interface Subject {
  readonly adapter: CliAdapter;
  readonly path: string | undefined;
  readonly problem: AgentErrorType | undefined;
  readonly sandboxes: ProgramSandboxes;
}

/** One task, with as many consecutive starts of the program as it needs. */
class CliJob {
  readonly #subject: Subject;
  readonly #adapter: CliAdapter;
  readonly #options: ProgramOptions;
  readonly #request: BackendRequest;
  readonly #context: BackendContext;
  readonly #runtime: Runtime;
  readonly #began: number;
  #cliProcess: RunningCliProcess | undefined;
  #endPause = () => {};
  #isStopped = false;
  /** Why Cobbler stopped the program, other than on request. */
  #overrun: AgentErrorType | undefined;
  readonly #account: TaskBudget;
  #attempts = 0;
  #contextLost = false;
  #relay: KeyRelay | undefined;

  constructor(subject: Subject, options: ProgramOptions, request: BackendRequest, context: BackendContext) {
    this.#subject = subject;
    this.#adapter = subject.adapter;
    this.#options = options;
    this.#request = request;
    this.#context = context;
    this.#account = new TaskBudget(request, subject.adapter.tellsCost);
    this.#runtime = options.runtime ?? systemRuntime;
    this.#began = this.#runtime.monotonic();
  }

  stop(): void {
    this.#isStopped = true;
    this.#endPause();
    this.#cliProcess?.stop();
  }

  decide(callId: string, decision: CallDecision): void {
    this.#cliProcess?.decide(callId, readDecision(decision));
  }

  steer(message: string): boolean {
    return this.#cliProcess?.steer(message) ?? false;
  }

  /** Resolves with the outcome of the task. Never rejects. */
  async result(): Promise<BackendResult> {
    const { signal } = this.#context;
    const onAbort = () => this.stop();
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) this.#isStopped = true;
    try {
      return await this.#tries();
    } catch (thrown) {
      return this.#failedResult(AgentError.from(thrown), undefined);
    } finally {
      signal?.removeEventListener('abort', onAbort);
      this.#relay?.close();
    }
  }

  async #tries(): Promise<BackendResult> {
    const { path: program, problem, sandboxes } = this.#subject;
    if (program === undefined || problem !== undefined) throw problem ?? notFound(this.#adapter.program);
    let request = { ...this.#request, workingDir: realFolder(this.#request.workingDir) };
    const sandbox = sandboxes.in(request.workingDir, program);
    // Outside a sandbox, the program could read the key from the memory of this process.
    if (sandbox !== undefined) this.#relay = await openRelay(this.#adapter, this.#environment());
    if (request.resumeId !== undefined && !this.#adapter.isSessionId(request.resumeId))
      request = this.#withoutContext(request);
    const retries = this.#options.retries ?? 1;
    for (let retry = 0; ; ) {
      if (this.#isStopped) return this.#stopped(undefined);
      const cliProcess = await this.#try(program, request, sandbox);
      if (this.#isStopped) return this.#stopped(cliProcess);
      if (request.resumeId !== undefined && this.#isStale(cliProcess)) {
        this.#account.close(cliProcess, this.#account.costOf(cliProcess, request));
        request = this.#withoutContext(request);
        continue;
      }
      const error = this.#errorOf(cliProcess, program);
      if (error === undefined) return this.#completedResult(cliProcess, request);
      if (!error.retryable || cliProcess.toolCalls > 0 || retry >= retries)
        return this.#failedResult(error, cliProcess, request);
      const cost = this.#account.costOf(cliProcess, request);
      const next = this.#account.next(request, cost);
      const delayMs = this.#delay();
      if (next === undefined || delayMs >= this.#timeLeft())
        return this.#failedResult(error, cliProcess, request);
      this.#account.close(cliProcess, cost);
      retry += 1;
      const { usage: wasted, usd } = cost;
      const withdrawn = {
        type: 'withdrawn',
        attempt: retry,
        error: error.toJSON(),
        delayMs,
        wasted,
      } as const;
      this.#tell({ ...withdrawn, ...defined({ usd }) });
      await this.#pause(delayMs);
      request = next;
    }
  }

  #try(program: string, request: BackendRequest, sandbox: Sandbox | undefined): Promise<CliProcess> {
    this.#attempts += 1;
    const given = this.#environment();
    this.#cliProcess = runCliProcess({
      adapter: this.#adapter,
      program: sandbox === undefined ? program : pathInSandbox(program, given),
      request,
      env: this.#relay?.env ?? given,
      address: this.#relay?.address,
      secrets: secretsIn(given),
      timeoutMs: this.#timeLeft(),
      graceMs: this.#options.graceMs,
      sandbox,
      runtime: this.#runtime,
      onEvent: (event) => this.#onEvent(event),
    });
    return this.#cliProcess.over;
  }

  #environment(): Record<string, string> {
    const { env = process.env, extraEnv = {}, sandboxed } = this.#options;
    const mark: Record<string, string> = sandboxed === true ? { IS_SANDBOX: '1' } : {};
    return programEnvironment(this.#adapter, env, { ...mark, ...extraEnv });
  }

  #timeLeft(): number {
    const limit = this.#options.timeoutMs ?? defaultTimeoutMs;
    return Math.max(1, limit - (this.#runtime.monotonic() - this.#began));
  }

  #onEvent(event: BackendEvent): void {
    if (event.type === 'answered' && event.usage !== undefined) this.#count(event.usage);
    this.#tell(event);
  }

  /** Counts tokens and stops the program at the limit, because no program supports a token limit. */
  #count(usage: Usage): void {
    this.#account.count(usage);
    if (!this.#account.isOverTokens) return;
    const { maxTokens } = this.#request;
    const message = `${this.#adapter.name} was stopped: it used more than ${maxTokens} tokens.`;
    this.#overrun = new AgentError({ kind: 'limit', code: 'tokens', message });
    this.#cliProcess?.stop();
  }

  #tell(event: BackendEvent): void {
    try {
      this.#context.onEvent?.(event);
    } catch {
      // Errors of a listener are ignored.
    }
  }

  /**
   * Returns true if the conversation is lost. A program that ended without a result reports this on standard error.
   */
  #isStale({ end, exitCode, sessionId, stderr }: CliProcess): boolean {
    if (end !== undefined) return end.stale === true;
    return exitCode !== 0 && sessionId === undefined && this.#adapter.isStale(stderr);
  }

  #withoutContext({ resumeId: _, before: __, ...rest }: BackendRequest): BackendRequest {
    this.#contextLost = true;
    this.#account.forget();
    const message = `${this.#adapter.name} could not find the conversation to continue, so it started a new one without the earlier messages.`;
    const error = { kind: 'invalid', code: 'stale_session', message } as const;
    this.#tell({ type: 'withdrawn', attempt: this.#attempts, error, delayMs: 0 });
    return rest;
  }

  #delay(): number {
    const half = (this.#options.retryMs ?? 2000) / 2;
    return half + this.#runtime.random() * half;
  }

  async #pause(delayMs: number): Promise<void> {
    // A listener of the previous event stopped the task.
    if (this.#isStopped) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#runtime.timer(delayMs, resolve);
      this.#endPause = () => {
        cancel();
        resolve();
      };
    });
  }

  /**
   * Returns the error of a process; undefined only if the program exited normally with code 0 after a successful
   * result.
   */
  #errorOf(cliProcess: CliProcess, program: string): AgentErrorType | undefined {
    if (this.#overrun !== undefined) return this.#overrun;
    if (cliProcess.problem !== undefined) return cliProcess.problem;
    if (cliProcess.cause === 'timeout') {
      const seconds = (this.#options.timeoutMs ?? defaultTimeoutMs) / 1000;
      const message = `${this.#adapter.name} did not finish within ${seconds} s and was stopped. Raise timeoutMs, or delegate a smaller task.`;
      return new AgentError({ kind: 'timeout', code: 'job_timeout', message });
    }
    const { end } = cliProcess;
    if (end?.error !== undefined) return new AgentError(end.error);
    if (end?.ok === true && cliProcess.cause === 'exit' && cliProcess.exitCode === 0) return undefined;
    return silentFailure(cliProcess, program.split('/').at(-1) ?? program);
  }

  #completedResult(cliProcess: CliProcess, request: BackendRequest): BackendResult {
    return {
      ...this.#facts(cliProcess, request),
      status: 'completed',
      output: limitText(finalText(cliProcess)),
    };
  }

  #stopped(cliProcess: CliProcess | undefined): BackendResult {
    const message = `${this.#adapter.name} was cancelled.`;
    const error = new AgentError({ kind: 'aborted', code: 'cancelled', message });
    return { ...this.#facts(cliProcess, this.#request), status: 'cancelled', output: message, error };
  }

  #failedResult(
    error: AgentErrorType,
    cliProcess: CliProcess | undefined,
    request = this.#request,
  ): BackendResult {
    const status = error.kind === 'timeout' && error.code === 'job_timeout' ? 'timeout' : 'failed';
    // Unparsed output is better than none.
    const raw = cliProcess?.end === undefined ? (cliProcess?.stdout ?? '').trim() : '';
    const output = limitText(raw === '' ? error.message : `${error.message}\n${raw}`);
    return { ...this.#facts(cliProcess, request), status, output, error };
  }

  #facts(cliProcess: CliProcess | undefined, request: BackendRequest) {
    const { end, sessionId } = cliProcess ?? {};
    const isOther =
      sessionId !== undefined && request.resumeId !== undefined && sessionId !== request.resumeId;
    const cost = this.#account.costOf(cliProcess, request);
    const usd = this.#account.usdWith(cost);
    const cliSessionId = sessionId ?? request.resumeId;
    // If the program does not count responses: one for each call, and the last one.
    const turns = end?.turns ?? (end === undefined ? 0 : (cliProcess?.toolCalls ?? 0) + 1);
    return {
      ...defined({ cliSessionId }),
      exitCode: cliProcess?.exitCode ?? null,
      ...defined({ stop: end?.stop }),
      usage: cost.usage,
      ...defined({ usd }),
      totals: this.#account.totals(cliProcess),
      turns: this.#account.turns + turns,
      toolCalls: cliProcess?.toolCalls ?? 0,
      denials: end?.denials ?? cliProcess?.denied ?? [],
      contextLost: this.#contextLost || isOther,
      attempts: this.#attempts,
      wasted: this.#account.wasted,
      durationMs: this.#runtime.monotonic() - this.#began,
    };
  }
}

/** Returns the final text. A result without text does not replace the model's earlier text. */
function finalText({ end, lastText }: CliProcess): string {
  return end?.text === undefined || end.text.trim() === '' ? lastText : end.text;
}
