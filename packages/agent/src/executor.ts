import { drive, driveOnce } from './drive.ts';
import { AgentError } from './errors.ts';
import type { ApprovalRequestedEvent, EventBody } from './event.ts';
import { allowAll } from './gate.ts';
import type { Limits } from './limits.ts';
import { Budget, defaultLimits } from './limits.ts';
import { memoryStore } from './memory-store.ts';
import type { Message, UserPart } from './message.ts';
import { planOutput } from './output.ts';
import type { AdvanceOptions, ExecutorOptions, ResumeOptions, RunOptions, RunPlan } from './plan.ts';
import type { Advance, ApprovalAnswer, Run } from './run.ts';
import { systemRuntime } from './runtime.ts';
import type { State } from './state.ts';
import { unanswered, undecided } from './state.ts';
import type { Tool } from './tool.ts';
import { checkTool } from './tool.ts';
import { wellFormedParts } from './well-formed.ts';

/** A program that runs one prompt after another for weeks must not keep them all. */
const mostInMemory = 1000;

/**
 * The loop over one task: ask the model, run the tools it calls, repeat, within limits. An executor keeps
 * nothing between runs but its options and its store.
 */
export class Executor {
  readonly #options: RunPlan<unknown>['options'];
  readonly #tools: readonly Tool[];

  /**
   * @throws AgentError `invalid` for tools that no provider would accept, two of the same name, or a limit
   * that is no number.
   */
  constructor(options: ExecutorOptions) {
    const reading = options.context?.spill?.tool;
    this.#tools = [...(options.tools ?? []), ...(reading === undefined ? [] : [reading])];
    checkTools(this.#tools);
    checkLimits(options.limits ?? {});
    this.#options = {
      ...options,
      agent: options.agent,
      gate: options.gate ?? allowAll,
      store: options.store ?? memoryStore({ keepLast: mostInMemory }),
      runtime: options.runtime ?? systemRuntime,
      pricing: options.pricing ?? (() => undefined),
    };
  }

  /**
   * Starts a run and returns at once. Give a prompt, or a whole conversation to go on with; of a conversation
   * given to a session that has one already only the user's last message is taken.
   * @throws AgentError `invalid` only for a programmer's mistake: an empty prompt, an output no agent can give.
   */
  run<Output = unknown>(
    prompt: string | readonly UserPart[] | readonly Message[],
    options: RunOptions<Output> = {},
  ): Run<Output> {
    const first = opening(prompt);
    const open = (state: State) => [
      ...superseded(state),
      ...(state.seq === 0 ? first : withoutHistory(first)),
    ];
    return drive(this.#plan({ resumes: false, open }, options), options);
  }

  /**
   * Goes on with a session where a crash, or a wait for a person, left it. A session that the store does not
   * have gives a run that failed with kind `invalid`, code `no_session`.
   */
  resume<Output = unknown>(sessionId: string, options: ResumeOptions<Output> = {}): Run<Output> {
    const decided = (options.answers ?? []).map(decision);
    const open = (state: State): EventBody[] => {
      if (state.seq === 0) throw noSession(sessionId);
      return [{ type: 'resumed' }, ...expired(state, this.#options.runtime.now()), ...decided];
    };
    return drive(this.#plan({ resumes: true, open }, options), { ...options, sessionId });
  }

  /**
   * Does the next action of a run and leaves it: one model request, one tool call or one compaction. For engines
   * that see to it that a piece of work gets done, in whatever process: each call is one such piece, and the
   * session's log alone says where the run is, so a piece that is done again goes on after what was recorded.
   * `limits.ms` holds for each action by itself. Aborting `signal` with an AgentError of code `cancelled` ends the
   * run; any other reason leaves it as a crash would.
   * @throws AgentError `invalid` for an empty prompt, or with code `no_session`; `agent` with code `store` when the
   * store failed, `fenced` when somebody else has gone on with the session; the signal's reason when the run was left.
   */
  async advance<Output = unknown>(options: AdvanceOptions<Output>): Promise<Advance<Output>> {
    const { prompt, sessionId, runId, answers = [] } = options;
    const first = prompt === undefined ? undefined : opening(prompt);
    const goingOn = (state: State) => [
      { type: 'resumed' } as const,
      ...expired(state, this.#options.runtime.now()),
      ...answers.map(decision),
    ];
    const open = (state: State): readonly EventBody[] => {
      const hasBegun = state.seq > 0 && state.runId === runId;
      if (!hasBegun && first !== undefined)
        return [...superseded(state), ...(state.seq === 0 ? first : withoutHistory(first))];
      if (state.seq === 0) throw noSession(sessionId);
      if (!hasBegun) return goingOn(state);
      if (state.finished === undefined) return isInterrupted(state) ? [{ type: 'resumed' }] : [];
      const wakes = state.finished.status === 'waiting' && goingOn(state).length > 1;
      return wakes ? goingOn(state) : [];
    };
    return driveOnce(this.#plan({ resumes: false, open }, options), options);
  }

  #plan<Output>(
    start: Pick<RunPlan<Output>, 'resumes' | 'open'>,
    options: Omit<RunOptions<Output>, 'sessionId'>,
  ): RunPlan<Output> {
    const limits = { ...defaultLimits, ...withoutUndefined(this.#options.limits ?? {}) };
    const output = options.output === undefined ? undefined : planOutput(this.#options.agent, options.output);
    const tools = output?.tool === undefined ? this.#tools : [...this.#tools, output.tool];
    if (output?.tool !== undefined) checkTools(tools);
    return {
      ...start,
      options: this.#options,
      tools,
      limits,
      budget: options.budget ?? new Budget(withoutUndefined(this.#options.limits ?? {})),
      ...(output !== undefined && { output }),
    };
  }
}

function checkTools(tools: readonly Tool[]): void {
  const names = new Set<string>();
  for (const tool of tools) {
    checkTool(tool);
    if (names.has(tool.name)) throw invalid(`Two tools are named ${tool.name}.`);
    names.add(tool.name);
  }
}

/** A limit that is not a number would never be reached. */
function checkLimits(limits: Limits): void {
  for (const [name, limit] of Object.entries(limits)) {
    if (limit === undefined || (typeof limit === 'number' && limit >= 0)) continue;
    throw invalid(`The limit ${name} must be a number from 0 up; it is ${String(limit)}.`);
  }
}

/** The events that a prompt begins with. */
function opening(prompt: string | readonly UserPart[] | readonly Message[]): EventBody[] {
  if (typeof prompt === 'string') return opening([{ type: 'text', text: prompt }]);
  if (!isMessages(prompt)) return [userEvent(prompt)];
  const last = prompt.at(-1);
  if (last?.role !== 'user') return [{ type: 'history', messages: prompt }];
  const user = userEvent(last.content);
  return prompt.length === 1 ? [user] : [{ type: 'history', messages: prompt.slice(0, -1) }, user];
}

function userEvent(content: readonly UserPart[]): EventBody {
  const whole = wellFormedParts(content);
  if (whole.every((part) => part.type === 'text' && part.text.trim() === ''))
    throw invalid('The prompt is empty.');
  return { type: 'user', content: whole };
}

function isMessages(prompt: readonly UserPart[] | readonly Message[]): prompt is readonly Message[] {
  return prompt.some((item) => 'role' in item);
}

/** A new prompt answers what a person was asked and never decided. */
function superseded(state: State): EventBody[] {
  return requestsOf(state).map(({ approvalId }) => decidedBy('superseded', approvalId));
}

/** What nobody can answer any more. */
function expired(state: State, now: number): EventBody[] {
  const over = requestsOf(state).filter(({ expiresAt }) => expiresAt !== undefined && expiresAt <= now);
  return over.map(({ approvalId }) => decidedBy('expired', approvalId));
}

function requestsOf(state: State): ApprovalRequestedEvent[] {
  return undecided(state).flatMap(({ approval }) => (approval === undefined ? [] : [approval.request]));
}

/** Whether a tool began and whoever ran it is gone: for as long as we hold the session nobody else does. */
function isInterrupted(state: State): boolean {
  return unanswered(state).some((call) => call.started && !call.orphaned);
}

function decision(answer: ApprovalAnswer & { readonly approvalId: string }): EventBody {
  const { approvalId, decision, message } = answer;
  const said = message === undefined ? {} : { message };
  return { type: 'approval_decided', approvalId, decision, ...said, waitedMs: 0 };
}

function decidedBy(decision: 'superseded' | 'expired', approvalId: string): EventBody {
  return { type: 'approval_decided', approvalId, decision, waitedMs: 0 };
}

/** A session has its conversation already; one that is only to be gone on with is taken up again. */
function withoutHistory(first: readonly EventBody[]): EventBody[] {
  const said = first.filter((event) => event.type !== 'history');
  return said.length > 0 ? said : [{ type: 'resumed' }];
}

function noSession(sessionId: string): AgentError {
  const message = `There is no session ${JSON.stringify(sessionId)} in the store.`;
  return new AgentError({ kind: 'invalid', code: 'no_session', message });
}

function invalid(message: string): AgentError {
  return new AgentError({ kind: 'invalid', message });
}

function withoutUndefined(limits: Limits): Limits {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}
