import type { Limits, Pricing, Spending, ToolContext, ToolStep } from '@cobbler/agent';
import { AgentError, Budget } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import type { Backend, BackendProcess, BackendRequest, BackendResult } from '../backend/backend.ts';
import type { BackendEvent } from '../events/backend-event.ts';
import { tokensOf } from '../events/backend-event.ts';
import type { RegisteredSession } from './session-registry.ts';
import type { CallPolicy } from './task-calls.ts';
import { TaskCalls } from './task-calls.ts';
import { TaskCost } from './task-cost.ts';

/** A session as the model sees it. Requirement S2.3 defines the names. */
export interface SessionReport {
  readonly session_id: string;
  readonly backend: string;
  readonly cli_session_id: string | null;
  readonly status: RegisteredSession['state'] | 'destroyed';
  readonly result: string;
}

/** The context of the tool call that starts a task. */
export interface JobContext extends Pick<ToolContext, 'user' | 'ask' | 'step'> {
  /** Ends the task. A task in the background is ended only by `destroy` and `close`. */
  readonly signal?: AbortSignal;
  readonly budget: Budget;
  readonly progress: (text: string) => void;
  /**
   * True for a background task. It reserves half of the remaining budget, because the run continues in the meantime.
   */
  readonly inBackground: boolean;
}

export interface SessionsOptions extends CallPolicy {
  readonly backends: readonly Backend[];
  readonly maxSessions: number;
  /** The limits of each session, in total over all its tasks. */
  readonly limits: Pick<Limits, 'usd' | 'tokens'>;
  readonly pricing?: Pricing | undefined;
  readonly allowUnpriced: boolean;
}

/** Maximum number of lines shown of a running task. */
const linesShown = 8;

/** What a task may use of the budget, and how its usage is charged. */
interface Share {
  readonly budget: Budget;
  readonly usd: number | undefined;
  readonly tokens: number | undefined;
  readonly turns: number;
  settle(result: BackendResult): RegisteredSession['spent'];
  recordTry(event: Extract<BackendEvent, { type: 'withdrawn' }>): void;
}

/** A task of this process. */
interface LiveJob {
  readonly process: BackendProcess;
  readonly over: Promise<BackendResult>;
  readonly lines: string[];
}

/**
 * Manages the sessions of the agent tool: a limited number, each with one task at a time. Their stored data is in the
 * registry; active tasks are here.
 */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #live: Map<string, LiveJob> = new Map();

  constructor(options: SessionsOptions) {
    this.#options = options;
    for (const session of options.registry.all()) this.#closeOrphan(session);
  }

  /**
   * Opens a session. @throws AgentError if the maximum number of sessions is reached or the backend is unavailable.
   */
  open(
    given: Pick<RegisteredSession, 'backend' | 'workingDir' | 'systemPrompt' | 'maxTurns'>,
  ): RegisteredSession {
    const { registry, maxSessions } = this.#options;
    const problem = this.#backend(given.backend).problem();
    if (problem !== undefined) throw problem;
    if (registry.all().length >= maxSessions)
      throw refusal('too_many_sessions', `max sessions (${maxSessions}) reached, destroy one first`);
    const id = registry.nextId();
    const session: RegisteredSession = {
      id,
      state: 'completed',
      result: '',
      totals: {},
      spent: { usd: 0, tokens: 0 },
      owner: process.pid,
      ...given,
    };
    registry.put(session);
    return session;
  }

  /** Returns a session. @throws AgentError for an unknown id. */
  get(id: string): RegisteredSession {
    const session = this.#options.registry.get(id);
    if (session === undefined) throw refusal('no_session', `session ${id} not found`);
    return this.#closeOrphan(session);
  }

  /** Starts a task. @throws AgentError if a task of the session is running, or if the budget has no room. */
  async begin(id: string, prompt: string, context: JobContext): Promise<LiveJob> {
    const session = this.get(id);
    if (session.state === 'running') throw refusal('busy', `session ${id} is still running`);
    const backend = this.#backend(session.backend);
    const share =
      backend.chargesCall === true ? this.#ownShare(context) : this.#share(session, backend, context);
    const { cliSessionId, systemPrompt, maxTurns, workingDir, totals } = session;
    const turns = Math.min(maxTurns ?? Number.POSITIVE_INFINITY, share.turns);
    const request: BackendRequest = {
      prompt,
      workingDir,
      ...defined({ systemPrompt }),
      ...(turns !== Number.POSITIVE_INFINITY && { maxTurns: turns }),
      ...defined({ maxUsd: share.usd, maxTokens: share.tokens }),
      ...(cliSessionId !== undefined && { resumeId: cliSessionId, before: totals }),
    };
    const lines: string[] = [];
    const open = new Map<string, ToolStep>();
    const calls = new TaskCalls(session, this.#options, context.ask);
    const process: BackendProcess = backend.start(request, {
      call: { budget: share.budget, ...defined({ user: context.user, ask: context.ask }) },
      ...defined({ signal: context.signal }),
      onEvent: (event) => {
        note(lines, event, context);
        const step = stepOf(event, open);
        if (step !== undefined) context.step?.(step);
        if (event.type === 'withdrawn') share.recordTry(event);
        this.#noteSession(id, event);
        calls.note(event);
        if (event.type === 'asked') void calls.judge(event, process);
      },
    });
    this.#options.registry.put({
      ...session,
      state: 'running',
      result: '',
      owner: globalThis.process.pid,
      // Counts in full if this process is killed.
      spent: {
        usd: session.spent.usd + (share.usd ?? 0),
        tokens: session.spent.tokens + (share.tokens ?? 0),
      },
    });
    const over = process.result.then((result) => {
      const used = share.settle(result);
      this.#live.delete(id);
      const spent = { usd: session.spent.usd + used.usd, tokens: session.spent.tokens + used.tokens };
      if (this.#options.registry.get(id) !== undefined)
        this.#options.registry.put({ ...afterTask(this.get(id), result), spent });
      return result;
    });
    const job = { process, over, lines };
    this.#live.set(id, job);
    return job;
  }

  report(session: RegisteredSession, status: SessionReport['status'] = session.state): SessionReport {
    return {
      session_id: session.id,
      backend: session.backend,
      cli_session_id: session.cliSessionId ?? null,
      status,
      result:
        session.state === 'running' ? (this.#live.get(session.id)?.lines ?? []).join('\n') : session.result,
    };
  }

  /** Resolves with the session once its task has ended. @throws AgentError for an unknown id. */
  async ended(id: string): Promise<RegisteredSession> {
    await this.#live.get(id)?.over;
    return this.get(id);
  }

  /** Records what tasks in the background have cost in the log of the run that makes the current call. */
  recordSpendings(budget: Budget): void {
    for (const spending of this.#options.registry.takeSpendings()) {
      try {
        budget.spend(0, 0, spending as Spending);
      } catch {
        // The file was changed by another program.
      }
    }
  }

  all(): RegisteredSession[] {
    return this.#options.registry.all().map((session) => this.#closeOrphan(session));
  }

  /** Ends the session's task and deletes the session. */
  async destroy(id: string): Promise<SessionReport> {
    const session = this.get(id);
    const job = this.#live.get(id);
    job?.process.stop();
    await job?.over;
    const last = this.#options.registry.get(id) ?? session;
    this.#options.registry.delete(id);
    return this.report(last, 'destroyed');
  }

  /** Ends every task of this process. The sessions remain. */
  async close(): Promise<void> {
    const jobs = [...this.#live.values()];
    for (const { process } of jobs) process.stop();
    await Promise.all(jobs.map(({ over }) => over));
  }

  /** Marks a session as failed if the process that was running its task has ended. */
  #closeOrphan(session: RegisteredSession): RegisteredSession {
    if (session.state !== 'running' || this.#live.has(session.id) || isOtherProcess(session.owner))
      return session;
    const buried: RegisteredSession = {
      ...session,
      state: 'failed',
      result: 'Cobbler exited during this task.',
    };
    this.#options.registry.put(buried);
    return buried;
  }

  /**
   * Stores the id of the program's conversation as soon as it is known, so that it survives if the process is killed.
   */
  #noteSession(id: string, event: BackendEvent): void {
    if (event.type !== 'session') return;
    const session = this.#options.registry.get(id);
    if (session !== undefined) this.#options.registry.put({ ...session, cliSessionId: event.id });
  }

  #backend(name: string): Backend {
    const found = this.#options.backends.find((backend) => backend.name === name);
    if (found !== undefined) return found;
    const known = this.#options.backends.map((backend) => backend.name).join(', ');
    throw refusal('no_backend', `There is no backend ${JSON.stringify(name)}. Available: ${known}.`);
  }

  /** Reserves the task's share of the budget; the actual cost is charged when the task ends. */
  #share({ spent }: RegisteredSession, backend: Backend, { budget, inBackground }: JobContext): Share {
    const { pricing, allowUnpriced, limits } = this.#options;
    const price = pricing?.(backend.name, backend.name);
    if (
      (budget.limitsMoney || limits.usd !== undefined) &&
      !backend.tellsCost &&
      price === undefined &&
      !allowUnpriced
    ) {
      const message = `${backend.name} does not report its cost, so the cost limit cannot be enforced.`;
      throw new AgentError({ kind: 'invalid', code: 'unpriced', message });
    }
    const part = (left: number, ofSession = Number.POSITIVE_INFINITY) => {
      const share = Math.min(inBackground ? left / 2 : left, ofSession);
      return share === Number.POSITIVE_INFINITY ? undefined : share;
    };
    const { usd: maxUsd = Number.POSITIVE_INFINITY, tokens: maxTokens = Number.POSITIVE_INFINITY } = limits;
    const usd = part(budget.usdLeft, maxUsd - spent.usd);
    const tokens = floor(part(budget.tokensLeft, maxTokens - spent.tokens));
    const turns = floor(part(budget.left('turns'))) ?? Number.POSITIVE_INFINITY;
    if ((usd ?? 1) <= 0 || (tokens ?? 1) <= 0 || turns <= 0)
      throw new AgentError({
        kind: 'limit',
        code: 'tokens',
        message: 'The limits of the run or of the session leave no room for this task.',
      });
    const reservation = budget.reserve(tokens ?? 0, usd ?? 0);
    const settleTurns = turns === Number.POSITIVE_INFINITY ? undefined : budget.take('turns', turns);
    const cost = new TaskCost(backend.name, price);
    const recordTry = (event: Extract<BackendEvent, { type: 'withdrawn' }>) => {
      const spending = inBackground ? undefined : cost.ofTry(event);
      if (spending !== undefined) budget.spend(0, 0, spending);
    };
    const settle = (result: BackendResult) => {
      const used = {
        tokens: tokensOf(result.usage) + tokensOf(result.wasted),
        usd: cost.usdOf(result) ?? 0,
      };
      const spending = cost.ofRest(result);
      // The run that started a task in the background may have ended: a later call records the cost.
      if (inBackground && spending !== null) this.#options.registry.keepSpending(spending);
      reservation.settle(used.tokens, used.usd, inBackground ? null : spending);
      settleTurns?.(Math.min(result.turns, turns));
      return used;
    };
    return { budget, usd, tokens, turns, settle, recordTry };
  }

  /**
   * Reserves nothing for a task that charges each request. The run that started one in the background may have ended, so
   * that a later call records its cost.
   */
  #ownShare({ budget, inBackground }: JobContext): Share {
    const keep = (spending: Spending): boolean => {
      this.#options.registry.keepSpending(spending);
      return true;
    };
    return {
      budget: inBackground ? new Budget({}, budget, keep) : budget,
      ...{ usd: undefined, tokens: undefined, turns: Number.POSITIVE_INFINITY },
      settle: ({ usage, usd = 0 }) => ({ tokens: tokensOf(usage), usd }),
      recordTry: () => {},
    };
  }
}

function floor(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.floor(value);
}

function isOtherProcess(pid: number): boolean {
  if (pid === process.pid || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Returns the session after its task has ended. */
function afterTask(session: RegisteredSession, result: BackendResult): RegisteredSession {
  const remarks = [
    ...(result.contextLost
      ? ['[The earlier conversation was lost. This task was done without its messages.]']
      : []),
    ...(result.denials.length > 0 ? [`[Denied and not executed: ${result.denials.join(', ')}]`] : []),
  ];
  const { cliSessionId = session.cliSessionId } = result;
  return {
    ...session,
    state: result.status,
    result: [...remarks, result.output].join('\n'),
    totals: result.totals,
    ...defined({ cliSessionId }),
  };
}

function note(lines: string[], event: BackendEvent, { progress }: JobContext): void {
  const step = stepOf(event, new Map());
  const line = firstLine([step?.called, step?.text].filter((part) => part !== undefined).join(' '));
  if (line === undefined) return;
  lines.push(line);
  if (lines.length > linesShown) lines.shift();
  progress(line);
}

/** Returns the step that an event is. @param open the calls without a result. */
function stepOf(event: BackendEvent, open: Map<string, ToolStep>): ToolStep | undefined {
  if (event.type === 'notice') return { text: event.text };
  if (event.type === 'withdrawn') return { text: `retrying: ${event.error.message}` };
  if (event.type === 'result') {
    const failed = open.get(event.callId);
    open.delete(event.callId);
    return event.isError && failed !== undefined ? { ...failed, isError: true } : undefined;
  }
  if (event.type !== 'part') return undefined;
  const { part } = event;
  if (part.type === 'text') return part.text.trim() === '' ? undefined : { text: part.text };
  if (part.type !== 'tool_call') return undefined;
  const [first] = Object.values(part.arguments);
  const step = { text: typeof first === 'string' ? first : '', called: part.toolName };
  open.set(part.id, step);
  return step;
}

function firstLine(text: string): string | undefined {
  const line = text.trim().split('\n')[0] ?? '';
  return line === '' ? undefined : line.slice(0, 200);
}

/** Returns an error for the model with a fixed message. */
export function refusal(code: string, message: string): AgentError {
  return new AgentError({ kind: 'tool', code, message });
}
