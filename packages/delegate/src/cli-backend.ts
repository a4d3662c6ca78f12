import type { AgentError as AgentErrorType, Environment, Runtime, Usage } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import type { HarnessCapabilities } from '@cobbler/agent/harness';
import { defined } from '@cobbler/agent/values';
import type {
  Backend,
  BackendContext,
  BackendProcess,
  BackendRequest,
  BackendResult,
  CallDecision,
} from './backend.ts';
import { readDecision } from './call-decision.ts';
import type { CliAdapter } from './dialect.ts';
import type { CliProcess, RunningErrand } from './errand.ts';
import { runCliProcess, silentFailure } from './errand.ts';
import { capped } from './final-text.ts';
import type { BackendEvent } from './happening.ts';
import { JobAccount } from './job-account.ts';
import { findProgram, notFound, programEnvironment, realFolder, secretsIn } from './program.ts';

/** Common settings of every backend that runs a local program. */
export interface ProgramOptions {
  /** Where the program is looked for and what it may see is taken from. Default: that of this process. */
  readonly env?: Environment;
  /** Variables that the program is given besides. */
  readonly extraEnv?: Readonly<Record<string, string>>;
  /** The program itself. Default: looked up on the PATH, once, when the backend is made. */
  readonly path?: string;
  /** Time limit of one job, tries included, in milliseconds. Default 600,000. */
  readonly timeoutMs?: number;
  /** From SIGTERM to SIGKILL, in milliseconds. Default 1,500. */
  readonly graceMs?: number;
  /** Tries after the first one, for failures that may pass. Default 1. */
  readonly retries?: number;
  /** Before such a try, in milliseconds: half of it is fixed and half chance. Default 2,000. */
  readonly retryMs?: number;
  /** This machine is a sandbox: a superuser may run Claude Code without permissions. Default false. */
  readonly sandboxed?: boolean;
  readonly runtime?: Runtime;
}

export const defaultTimeoutMs = 600_000;

/** A backend over a program that speaks the dialect. Looks the program up once. */
export class CliBackend implements Backend {
  readonly name: string;
  readonly capabilities: HarnessCapabilities;
  readonly tellsCost: boolean;
  readonly #dialect: CliAdapter;
  readonly #options: ProgramOptions;
  readonly #program: string | undefined;

  constructor(dialect: CliAdapter, options: ProgramOptions) {
    this.name = dialect.name;
    this.capabilities = dialect.capabilities;
    this.tellsCost = dialect.tellsCost;
    this.#dialect = dialect;
    this.#options = options;
    this.#program = options.path ?? findProgram(dialect.program, options.env ?? process.env);
  }

  problem(): AgentErrorType | undefined {
    const { permission, program } = this.#dialect;
    if (this.#program === undefined) return notFound(program);
    const isRoot = process.getuid?.() === 0;
    if (program !== 'claude' || permission !== 'bypass' || !isRoot || this.#options.sandboxed === true)
      return undefined;
    const message =
      'Claude Code does not run without permissions as root. Run Cobbler as another user, or declare that this machine is a sandbox.';
    return new AgentError({ kind: 'invalid', code: 'bypass_as_root', message });
  }

  run(request: BackendRequest, context: BackendContext = {}): Promise<BackendResult> {
    return this.start(request, context).result;
  }

  start(request: BackendRequest, context: BackendContext = {}): BackendProcess {
    const job = new CliJob(
      { dialect: this.#dialect, path: this.#program, problem: this.problem() },
      this.#options,
      request,
      context,
    );
    return {
      result: job.result(),
      stop: () => job.stop(),
      decide: (callId, decision) => job.decide(callId, decision),
      steer: (text) => job.steer(text),
    };
  }
}

/** The program that a job is for. */
interface Subject {
  readonly dialect: CliAdapter;
  readonly path: string | undefined;
  readonly problem: AgentErrorType | undefined;
}

/** One job: as many starts of the program as it takes, one after another. */
class CliJob {
  readonly #dialect: CliAdapter;
  readonly #program: string | undefined;
  readonly #problem: AgentErrorType | undefined;
  readonly #options: ProgramOptions;
  readonly #request: BackendRequest;
  readonly #context: BackendContext;
  readonly #runtime: Runtime;
  readonly #began: number;
  #errand: RunningErrand | undefined;
  #endPause = () => {};
  #isStopped = false;
  /** Why we stopped it, other than on request. */
  #overrun: AgentErrorType | undefined;
  readonly #account: JobAccount;
  #attempts = 0;
  #contextLost = false;

  constructor(
    { dialect, path, problem }: Subject,
    options: ProgramOptions,
    request: BackendRequest,
    context: BackendContext,
  ) {
    this.#dialect = dialect;
    this.#program = path;
    this.#problem = problem;
    this.#options = options;
    this.#request = request;
    this.#context = context;
    this.#account = new JobAccount(request, dialect.tellsCost);
    this.#runtime = options.runtime ?? systemRuntime;
    this.#began = this.#runtime.monotonic();
  }

  stop(): void {
    this.#isStopped = true;
    this.#endPause();
    this.#errand?.stop();
  }

  decide(callId: string, decision: CallDecision): void {
    this.#errand?.decide(callId, readDecision(decision));
  }

  steer(text: string): boolean {
    return this.#errand?.steer(text) ?? false;
  }

  /** Never rejects. */
  async result(): Promise<BackendResult> {
    const { signal } = this.#context;
    const onAbort = () => this.stop();
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) this.#isStopped = true;
    try {
      return await this.#tries();
    } catch (thrown) {
      return this.#failed(AgentError.from(thrown), undefined);
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  async #tries(): Promise<BackendResult> {
    const program = this.#program;
    if (program === undefined || this.#problem !== undefined)
      throw this.#problem ?? notFound(this.#dialect.program);
    let request = { ...this.#request, workingDir: realFolder(this.#request.workingDir) };
    if (request.resumeId !== undefined && !this.#dialect.isSessionId(request.resumeId))
      request = this.#withoutContext(request);
    const retries = this.#options.retries ?? 1;
    for (let retry = 0; ; ) {
      if (this.#isStopped) return this.#stopped(undefined);
      const errand = await this.#try(program, request);
      if (this.#isStopped) return this.#stopped(errand);
      if (request.resumeId !== undefined && this.#isStale(errand)) {
        this.#account.close(errand, this.#account.costOf(errand, request));
        request = this.#withoutContext(request);
        continue;
      }
      const error = this.#errorOf(errand, program);
      if (error === undefined) return this.#completed(errand, request);
      if (!error.retryable || errand.toolCalls > 0 || retry >= retries)
        return this.#failed(error, errand, request);
      const cost = this.#account.costOf(errand, request);
      const next = this.#account.next(request, cost);
      const delayMs = this.#delay();
      if (next === undefined || delayMs >= this.#timeLeft()) return this.#failed(error, errand, request);
      this.#account.close(errand, cost);
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

  #try(program: string, request: BackendRequest): Promise<CliProcess> {
    this.#attempts += 1;
    const { env = process.env, extraEnv = {}, sandboxed } = this.#options;
    const sandbox: Record<string, string> = sandboxed === true ? { IS_SANDBOX: '1' } : {};
    const given = programEnvironment(this.#dialect, env, { ...sandbox, ...extraEnv });
    this.#errand = runCliProcess({
      dialect: this.#dialect,
      program,
      request,
      env: given,
      secrets: secretsIn(given),
      timeoutMs: this.#timeLeft(),
      graceMs: this.#options.graceMs,
      runtime: this.#runtime,
      hear: (happening) => this.#hear(happening),
    });
    return this.#errand.over;
  }

  #timeLeft(): number {
    const limit = this.#options.timeoutMs ?? defaultTimeoutMs;
    return Math.max(1, limit - (this.#runtime.monotonic() - this.#began));
  }

  #hear(happening: BackendEvent): void {
    if (happening.type === 'answered' && happening.usage !== undefined) this.#count(happening.usage);
    this.#tell(happening);
  }

  /** No program takes a limit on tokens: it is watched, and ended. */
  #count(usage: Usage): void {
    this.#account.count(usage);
    if (!this.#account.isOverTokens) return;
    const { maxTokens } = this.#request;
    const message = `${this.#dialect.name} was stopped: it used more than ${maxTokens} tokens.`;
    this.#overrun = new AgentError({ kind: 'limit', code: 'tokens', message });
    this.#errand?.stop();
  }

  #tell(happening: BackendEvent): void {
    try {
      this.#context.onHappening?.(happening);
    } catch {
      // A watcher's fault is its own.
    }
  }

  /** A program that ended without a last word said it on standard error. */
  #isStale({ end, exitCode, sessionId, stderr }: CliProcess): boolean {
    if (end !== undefined) return end.stale === true;
    return exitCode !== 0 && sessionId === undefined && this.#dialect.isStale(stderr);
  }

  #withoutContext({ resumeId: _, before: __, ...rest }: BackendRequest): BackendRequest {
    this.#contextLost = true;
    this.#account.forget();
    const message = `${this.#dialect.name} no longer has the conversation to continue: it started a new one, without the earlier messages.`;
    const error = { kind: 'invalid', code: 'stale_session', message } as const;
    this.#tell({ type: 'withdrawn', attempt: this.#attempts, error, delayMs: 0 });
    return rest;
  }

  #delay(): number {
    const half = (this.#options.retryMs ?? 2000) / 2;
    return half + this.#runtime.random() * half;
  }

  async #pause(delayMs: number): Promise<void> {
    // Stopped by what was just told.
    if (this.#isStopped) return;
    await new Promise<void>((resolve) => {
      const cancel = this.#runtime.timer(delayMs, resolve);
      this.#endPause = () => {
        cancel();
        resolve();
      };
    });
  }

  /** Undefined only for a program that exited normally with code 0 after a good result. */
  #errorOf(errand: CliProcess, program: string): AgentErrorType | undefined {
    if (this.#overrun !== undefined) return this.#overrun;
    if (errand.problem !== undefined) return errand.problem;
    if (errand.cause === 'timeout') {
      const seconds = (this.#options.timeoutMs ?? defaultTimeoutMs) / 1000;
      const message = `${this.#dialect.name} did not finish within ${seconds} s and was stopped.`;
      return new AgentError({ kind: 'timeout', code: 'job_timeout', message });
    }
    const { end } = errand;
    if (end?.error !== undefined) return new AgentError(end.error);
    if (end?.ok === true && errand.cause === 'exit' && errand.exitCode === 0) return undefined;
    return silentFailure(errand, program.split('/').at(-1) ?? program);
  }

  #completed(errand: CliProcess, request: BackendRequest): BackendResult {
    return {
      ...this.#facts(errand, request),
      status: 'completed',
      output: capped(finalText(errand)),
    };
  }

  #stopped(errand: CliProcess | undefined): BackendResult {
    const message = `${this.#dialect.name} was cancelled.`;
    const error = new AgentError({ kind: 'aborted', code: 'cancelled', message });
    return { ...this.#facts(errand, this.#request), status: 'cancelled', output: message, error };
  }

  #failed(error: AgentErrorType, errand: CliProcess | undefined, request = this.#request): BackendResult {
    const status = error.kind === 'timeout' && error.code === 'job_timeout' ? 'timeout' : 'failed';
    // Unrecognized output is better than nothing.
    const raw = errand?.end === undefined ? (errand?.stdout ?? '').trim() : '';
    const output = capped(raw === '' ? error.message : `${error.message}\n${raw}`);
    return { ...this.#facts(errand, request), status, output, error };
  }

  #facts(errand: CliProcess | undefined, request: BackendRequest) {
    const { end, sessionId } = errand ?? {};
    const isOther =
      sessionId !== undefined && request.resumeId !== undefined && sessionId !== request.resumeId;
    const cost = this.#account.costOf(errand, request);
    const usd = this.#account.usdWith(cost);
    const cliSessionId = sessionId ?? request.resumeId;
    // Where the program does not count them: one for each call, and the last.
    const turns = end?.turns ?? (end === undefined ? 0 : (errand?.toolCalls ?? 0) + 1);
    return {
      ...defined({ cliSessionId }),
      exitCode: errand?.exitCode ?? null,
      ...defined({ stop: end?.stop }),
      usage: cost.usage,
      ...defined({ usd }),
      totals: this.#account.totals(errand),
      turns: this.#account.turns + turns,
      toolCalls: errand?.toolCalls ?? 0,
      denials: end?.denials ?? errand?.denied ?? [],
      contextLost: this.#contextLost || isOther,
      attempts: this.#attempts,
      wasted: this.#account.wasted,
      durationMs: this.#runtime.monotonic() - this.#began,
    };
  }
}

/** A last word without any text does not undo what the model said. */
function finalText({ end, lastText }: CliProcess): string {
  return end?.text === undefined || end.text.trim() === '' ? lastText : end.text;
}
