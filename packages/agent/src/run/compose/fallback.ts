import { abortError } from '../../interfaces/abort-error.ts';
import type {
  Agent,
  ModelRequest,
  ModelResponse,
  RequestContext,
  TriedModel,
} from '../../interfaces/agent.ts';
import { readAgent } from '../../interfaces/agent.ts';
import { ownContext, stopOf } from '../../interfaces/own-context.ts';
import { defined } from '../../values/defined.ts';
import type { ErrorKind } from '../../values/errors.ts';
import { AgentError, argumentError } from '../../values/errors.ts';
import type { Reader } from '../../values/input.ts';
import { amount, invalid, listOf, read, record, withMethods } from '../../values/input.ts';
import type { Runtime } from '../../values/runtime.ts';
import { systemRuntime } from '../../values/runtime.ts';
import { addUsage } from '../../values/usage.ts';
import { attemptsOf, failedFor, servedFor, triedBy, wastedBy } from './attribution.ts';
import { declarationOf } from './declaration.ts';

/** Options of {@link fallback}. */
export interface FallbackOptions {
  /**
   * Time in milliseconds during which an agent that failed is skipped while another is available. If its service asks
   * for a longer delay, that applies. Default 30,000; 0: agents are never skipped.
   */
  readonly coolDownMs?: number;
  /** The clock of the cool-down. Default: that of the system. */
  readonly runtime?: Pick<Runtime, 'monotonic'>;
}

const readAgents: Reader<readonly Agent[]> = (value) => {
  const agents = listOf(readAgent, 'an array of agents')(value);
  if (agents.length === 0) throw invalid(value, 'Use at least one agent');
  return agents;
};

const fallbackOptions = record<FallbackOptions>({
  coolDownMs: amount,
  runtime: withMethods<Pick<Runtime, 'monotonic'>>('monotonic'),
});

const defaultCoolDownMs = 30_000;

/**
 * Returns an agent that asks the next of these agents if one fails in a way that another might not: its service is
 * overloaded or unreachable or refuses the key, the model does not exist, or the conversation is too long for it and the
 * next agent has a larger context window. Each agent first makes its own retries. A request that is cancelled or invalid
 * fails immediately. A refusal by the model counts as a response.
 *
 * The returned agent declares only what all agents support. It remembers only which agents failed, for the cool-down.
 *
 * @param agents in the order in which they are asked; at least one.
 * @throws AgentError `invalid` for invalid agents or options.
 */
export function fallback(agents: readonly Agent[], options: FallbackOptions = {}): Agent {
  const given = read(agents, readAgents, 'agents');
  const { coolDownMs = defaultCoolDownMs, runtime = systemRuntime } = read(options, fallbackOptions);
  const declaration = declarationOf(given, given[0] as Agent);
  const members = given.map((agent): Member => ({ agent, failed: undefined }));
  const now = () => runtime.monotonic();

  async function run(request: ModelRequest, context: RequestContext = {}): Promise<ModelResponse> {
    try {
      return await new Succession(members, { declaration, coolDownMs, now }, context).ask(request);
    } catch (error) {
      throw argumentError('run', error);
    }
  }
  return Object.freeze({ ...declaration, run });
}

/** One of the agents, and its last failure if it cools down. */
interface Member {
  readonly agent: Agent;
  failed: { readonly tried: readonly TriedModel[]; readonly until: number } | undefined;
}

interface Settings {
  readonly declaration: Pick<Agent, 'provider' | 'model'>;
  readonly coolDownMs: number;
  readonly now: () => number;
}

/** One request to the members, until one responds. */
class Succession {
  readonly #members: readonly Member[];
  readonly #settings: Settings;
  readonly #context: RequestContext;
  /** The members that failed or were skipped, in order. */
  readonly #tried: TriedModel[] = [];
  /** Index of the next member. */
  #next = 0;
  /** The error that says that the conversation is too long, and the window that was too small. */
  #tooLong: { readonly error: AgentError; readonly window: number } | undefined;
  /** True if all members cool down: then none is skipped. */
  readonly #skipsNone: boolean;

  constructor(members: readonly Member[], settings: Settings, context: RequestContext) {
    this.#members = members;
    this.#settings = settings;
    this.#context = context;
    this.#skipsNone = members.every((member) => this.#coolsDown(member));
  }

  async ask(request: ModelRequest): Promise<ModelResponse> {
    let member = this.#take() as Member;
    for (;;) {
      const outcome = await this.#askOne(member, request);
      if (!AgentError.is(outcome)) {
        member.failed = undefined;
        return outcome;
      }
      member = await this.#after(member, outcome);
    }
  }

  async #askOne({ agent }: Member, request: ModelRequest): Promise<ModelResponse | AgentError> {
    const { emit, mayRetry } = this.#context;
    let isOpen = true;
    const before = wastedBy(this.#tried);
    const context = contextWith(
      this.#context,
      // What an agent emits after it failed belongs to no response.
      (event) => isOpen && emit?.(event),
      (wasted) => mayRetry?.(addUsage(before, wasted)) ?? true,
    );
    try {
      const response = await agent.run(request, context);
      return servedFor(this.#settings.declaration, agent, response, this.#tried);
    } catch (thrown) {
      return AgentError.from(thrown, 'agent', 'bad_answer');
    } finally {
      isOpen = false;
    }
  }

  /**
   * Returns the member to ask after another failed.
   * @throws AgentError if there is none: that the conversation is too long, which the caller can cure, or the last error.
   */
  async #after(member: Member, error: AgentError): Promise<Member> {
    const { agent } = member;
    const tried = triedBy(agent, error);
    this.#tried.push(...tried);
    const stop = stopReasonOf(this.#context);
    if (stop !== undefined)
      throw this.#failure(isStop(error) ? error : abortError(stop.reason, agent.provider));
    if (error.code === 'context_full') {
      const window = Math.max(agent.capabilities.contextTokens ?? Number.POSITIVE_INFINITY, this.#window);
      this.#tooLong = { error, window };
    } else if (isCurable(error)) {
      this.#coolDown(member, error, tried);
    } else {
      throw this.#failure(error);
    }
    const next = (await this.#mayContinue()) ? this.#take() : undefined;
    if (next === undefined) throw this.#failure(this.#tooLong?.error ?? error);
    this.#announce(error, next.agent);
    return next;
  }

  /** Returns the next member that is available and large enough, and notes those that are skipped before it. */
  #take(): Member | undefined {
    const skipped: TriedModel[] = [];
    while (this.#next < this.#members.length) {
      const member = this.#members[this.#next] as Member;
      this.#next += 1;
      if (!this.#isLargeEnough(member)) continue;
      if (this.#skipsNone || !this.#coolsDown(member)) {
        this.#tried.push(...skipped);
        return member;
      }
      for (const { provider, model, kind, code, message } of member.failed?.tried ?? [])
        skipped.push({ provider, model, kind, message, ...defined({ code }), skipped: true });
    }
    return undefined;
  }

  get #window(): number {
    return this.#tooLong?.window ?? 0;
  }

  /** After a window was too small, only a known and larger one helps. */
  #isLargeEnough({ agent }: Member): boolean {
    return this.#tooLong === undefined || (agent.capabilities.contextTokens ?? 0) > this.#window;
  }

  #coolsDown({ failed }: Member): boolean {
    return failed !== undefined && this.#settings.now() < failed.until;
  }

  #coolDown(member: Member, { retryAfterMs = 0 }: AgentError, tried: readonly TriedModel[]): void {
    const { coolDownMs, now } = this.#settings;
    if (coolDownMs > 0) member.failed = { tried, until: now() + Math.max(coolDownMs, retryAfterMs) };
  }

  async #mayContinue(): Promise<boolean> {
    try {
      return (await this.#context.mayRetry?.(wastedBy(this.#tried))) ?? true;
    } catch {
      return false;
    }
  }

  /** Says that what was emitted so far is void, and which model is asked next. */
  #announce(error: AgentError, { provider, model }: Agent): void {
    const attempt = Math.max(1, attemptsOf(this.#tried));
    try {
      this.#context.emit?.({
        ...{ type: 'retry', attempt, delayMs: 0 },
        error: error.toJSON(),
        next: { provider, model },
      });
    } catch {
      // Errors of the listener are ignored.
    }
  }

  #failure(error: AgentError): AgentError {
    return failedFor(this.#settings.declaration, error, this.#tried);
  }
}

function isStop({ kind }: AgentError): boolean {
  return kind === 'aborted' || kind === 'timeout';
}

/** Returns a context with the same signal, but with these functions. */
function contextWith(
  context: RequestContext,
  emit: NonNullable<RequestContext['emit']>,
  mayRetry: NonNullable<RequestContext['mayRetry']>,
): RequestContext {
  const stop = stopOf(context);
  if (stop !== undefined) return ownContext(stop, emit, mayRetry);
  return { ...defined({ signal: context.signal }), emit, mayRetry };
}

/** Returns why a request was stopped; undefined if it was not. */
function stopReasonOf(context: RequestContext): { readonly reason: unknown } | undefined {
  const stop = stopOf(context);
  const isStopped = stop === undefined ? context.signal?.aborted === true : stop.isStopRequested;
  return isStopped ? { reason: stop === undefined ? context.signal?.reason : stop.reason } : undefined;
}

/** Failures of a service or of the way to it. Whether the request was sent again before does not matter. */
const serviceKinds: ReadonlySet<ErrorKind> = new Set(['agent', 'rate_limit', 'network', 'timeout', 'auth']);

/** Statuses of requests that a service refuses for its own reasons: no credit left, an unknown model. */
const ownStatuses: ReadonlySet<number> = new Set([402, 404, 429]);

/** Returns whether another service may succeed: not after a cancellation or a limit, or if the request itself is wrong. */
function isCurable(error: AgentError): boolean {
  const { kind, code, status } = error;
  if (kind !== 'invalid') return serviceKinds.has(kind);
  return code === 'not_served' || (status !== undefined && ownStatuses.has(status));
}
