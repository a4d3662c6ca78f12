import type {
  Agent,
  AssistantPart,
  Capabilities,
  Message,
  ModelRequest,
  ModelResponse,
  Price,
  RequestContext,
  StopReason,
  ToolContext,
  ToolOutput,
  Usage,
} from '@cobbler/agent';
import { AgentError, addUsage, callsOf, noUsage, textOf, toolOutput } from '@cobbler/agent';
import { callable, data, listOf, read, record, signal, text } from '@cobbler/agent/input';
import { defined } from '@cobbler/agent/values';
import type { Backend, BackendProcess, BackendRequest, BackendResult } from '../backend/backend.ts';
import { knownName } from '../backend/proxy-tools.ts';
import type { BackendEvent, Totals } from '../events/backend-event.ts';
import { tokensOf } from '../events/backend-event.ts';
import type { RemainingText } from '../events/final-text.ts';
import { remainingText } from '../events/final-text.ts';
import { Calls } from './calls.ts';
import { conversationDataIn, conversationPart } from './conversation-data.ts';
import { ResponseBuilder } from './response-builder.ts';
import { priceOf, TaskUsage } from './task-usage.ts';

/** Options of {@link BackendAgent}. */
export interface BackendAgentOptions {
  readonly backend: Backend;
  /** Names of additional known tools. */
  readonly tools?: readonly string[] | undefined;
  /** Options that are the same for every task. */
  readonly job: Omit<BackendRequest, 'prompt' | 'resumeId' | 'before'> & { readonly maxTurns: number };
}

const lines = listOf(text);

const readRequest = record<Pick<ModelRequest, 'messages' | 'system'>>(
  {
    messages: listOf((value) => {
      const message = data<Message>(value);
      // Rejects what is not a message.
      textOf(message);
      return message;
    }),
    system: (value) => (Array.isArray(value) ? lines : text)(value),
  },
  ['messages'],
);

const readContext = record<Pick<RequestContext, 'signal' | 'emit'>>({ signal, emit: callable });

/** An event of a program, or the final outcome of its task. */
type BackendUpdate = BackendEvent | { readonly type: 'over'; readonly result: BackendResult };

/** An active task, and its state. */
interface ActiveTask {
  readonly process: BackendProcess;
  readonly updates: BackendUpdate[];
  readonly calls: Calls;
  readonly taskUsage: TaskUsage;
}

/**
 * Presents a program as an agent of the loop. Each response of the program's model is a response of this agent, and
 * each of its calls is a call of the loop, whose tools wait for the program to execute it. So the guarantees of the
 * loop (events, limits, cancellation, a valid conversation) also apply to the program.
 *
 * It performs one task at a time: a new one starts only after the previous one has ended.
 */
export class BackendAgent implements Agent {
  readonly provider: string;
  readonly model: string;
  readonly capabilities: Capabilities = {
    files: [],
    reasoning: true,
    parallelCalls: true,
    output: 'none',
    sampling: false,
    cacheUsage: true,
  };
  readonly #options: BackendAgentOptions;
  #live: ActiveTask | undefined;
  /** Resolves when no task is left. */
  #gone: Promise<unknown> = Promise.resolve();
  #sessionId: string | undefined;
  #totals: Totals = {};
  /** Messages sent during a task that could not receive them. */
  #queued: string[] = [];
  /** The signal of the current run, which identifies it. */
  #run: AbortSignal | undefined;
  /** Number of responses requested in this run, and the usage of its tasks. */
  #requestCount = 0;
  #spentUsd = 0;
  #spentTokens = 0;
  /** Usage of the latest task. */
  #taskUsage: TaskUsage = new TaskUsage();
  #price: Price | undefined;
  #wake = () => {};

  constructor(options: BackendAgentOptions) {
    this.provider = options.backend.name;
    this.model = options.backend.name;
    this.#options = options;
  }

  /** The price per token that makes the last response cost what the program reported. */
  get price(): Price | undefined {
    return this.#price;
  }

  async run(request: ModelRequest, context: RequestContext = {}): Promise<ModelResponse> {
    const job = read(request, readRequest, 'request');
    const given = read(context, readContext, 'context');
    const { signal } = given;
    const { messages } = job;
    // Pending messages of an earlier run were withdrawn with it.
    const isSameRun = signal !== undefined && signal === this.#run;
    this.#run = signal;
    this.#requestCount = isSameRun ? this.#requestCount + 1 : 1;
    if (!isSameRun) [this.#spentUsd, this.#spentTokens] = [0, 0];
    if (this.#live !== undefined && messages.at(-1)?.role !== 'user') this.#resume(this.#live, messages);
    else if (this.#live !== undefined && (isSameRun || endsCalls(messages))) {
      this.#resume(this.#live, messages);
      const text = textsOf(lastUserMessages(messages));
      if (!this.#live.process.steer(text)) this.#queued.push(text);
    } else await this.#begin(job, isSameRun);
    const live = this.#live;
    if (live === undefined)
      throw new AgentError({ kind: 'agent', code: 'no_job', message: 'There is no active task.' });
    return this.#answer(live, given);
  }

  /** Waits for the outcome of a call that the loop has allowed. */
  async outcome(given: Record<string, unknown>, { callId, signal }: ToolContext): Promise<ToolOutput> {
    const live = this.#live;
    if (live === undefined) throw new Error('The program has exited.');
    signal.addEventListener('abort', () => live.process.stop(), { once: true });
    const { text, isError } = await live.calls.allow(callId, given, signal);
    return toolOutput({ content: text, isError });
  }

  /** Stops tasks that are still running after the end of the run. */
  leave(): void {
    this.#live?.process.stop();
    this.#live = undefined;
  }

  /** Resolves when no task is left. */
  async close(): Promise<void> {
    this.leave();
    await this.#gone;
  }

  async #begin(
    { messages, system }: Pick<ModelRequest, 'messages' | 'system'>,
    isSameRun: boolean,
  ): Promise<void> {
    this.leave();
    await this.#gone;
    const taskUsage = this.#taskUsage.next();
    const job = this.#jobWithin();
    const userMessages = lastUserMessages(messages);
    const prompt = [textsOf(isSameRun ? userMessages : userMessages.slice(-1)), ...this.#queued.splice(0)]
      .filter((text) => text !== '')
      .join('\n\n');
    // The conversation was interrupted by a crash between a call and the next response, so there is no new message.
    const wanted = prompt === '' ? resumePrompt : prompt;
    const kept = conversationDataIn(messages, this.provider);
    // This process knows the id even if an interrupted run did not record it in the log.
    const resumeId = this.#sessionId ?? kept?.session;
    const before = this.#sessionId === undefined ? (kept?.totals ?? {}) : this.#totals;
    this.#totals = before;
    const instructions = typeof system === 'string' ? system : (system ?? []).join('\n\n');
    const live: Omit<ActiveTask, 'process'> = { updates: [], calls: new Calls(), taskUsage };
    this.#taskUsage = taskUsage;
    const process = this.#options.backend.start(
      {
        ...job,
        prompt: wanted,
        ...(instructions !== '' && { systemPrompt: instructions }),
        ...(resumeId !== undefined && { resumeId, before }),
      },
      { onEvent: (event) => this.#onEvent(live, event) },
    );
    const whole: ActiveTask = Object.assign(live, { process });
    whole.calls.decideBy(process);
    this.#live = whole;
    this.#gone = process.result.then((result) => {
      this.#sessionId = result.cliSessionId ?? this.#sessionId;
      this.#totals = result.totals;
      taskUsage.close(result);
      whole.calls.end();
      this.#push(whole, { type: 'over', result });
    });
  }

  /**
   * Continues a task with the results since the last response. Those written by the loop are denials: the calls never
   * ran.
   */
  #resume(live: ActiveTask, messages: readonly Message[]): void {
    const answered = messages.findLastIndex(({ role }) => role === 'assistant');
    for (const message of messages.slice(answered + 1))
      if (message.role === 'tool_result') live.calls.deny(message.toolCallId, textOf(message));
  }

  #onEvent(live: Omit<ActiveTask, 'process'>, event: BackendEvent): void {
    if (event.type === 'session') this.#sessionId = event.id;
    if (event.type === 'withdrawn') live.taskUsage.waste(event);
    if (event.type === 'asked') live.calls.noteAsked(event.callId, event.arguments);
    // A result proves that the response with its call is complete.
    if (event.type === 'result') this.#push(live, { type: 'answered' });
    if (event.type === 'result') live.calls.noteOutcome(event.callId, event);
    else this.#push(live, event);
  }

  #push(live: Omit<ActiveTask, 'process'>, update: BackendUpdate): void {
    live.updates.push(update);
    this.#wake();
  }

  /** Waits until a response is complete. */
  async #answer(live: ActiveTask, { signal, emit }: RequestContext): Promise<ModelResponse> {
    const builder = new ResponseBuilder(emit ?? (() => {}));
    const stop = () => {
      live.process.stop();
      this.#wake();
    };
    signal?.addEventListener('abort', stop, { once: true });
    try {
      for (;;) {
        if (signal?.aborted) throw this.#cancelled(live, builder);
        const update = live.updates.shift();
        if (update === undefined) {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        } else if (update.type === 'over') return this.#last(live, builder, update.result);
        else if (builder.startsAnother(update)) {
          live.updates.unshift(update);
          return this.#response(live, builder, { stop: 'pause', usage: builder.usage });
        } else if (builder.take(update) && builder.hasCalls) {
          return this.#response(live, builder, { stop: 'tool_use', usage: builder.usage });
        }
      }
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  /**
   * Returns the last response after the program has ended. Its last output is a response only if the task succeeded
   * or if the service reported why not. A final text that was not streamed is a separate response, unless the run has
   * no turn left for it.
   */
  #last(live: ActiveTask, builder: ResponseBuilder, result: BackendResult): ModelResponse {
    const { status, error, stop } = result;
    const rest: RemainingText =
      status === 'completed' ? remainingText(builder.texts, result.output) : { type: 'nothing' };
    if (rest.type === 'other' && this.#requestCount < this.#options.job.maxTurns) {
      live.updates.unshift(
        { type: 'part', part: { type: 'text', text: rest.text } },
        { type: 'over', result },
      );
      // The usage of the task is reported with its last response, together with the cost.
      return this.#response(live, builder, { stop: 'pause', usage: noUsage });
    }
    this.#live = undefined;
    const due = live.taskUsage.settle(noUsage);
    this.#price = priceOf(due);
    this.#spend(result);
    const hasStopped = stop === 'max_tokens' || stop === 'refusal';
    if (status !== 'completed' && !hasStopped) {
      const wasted = addUsage(due.usage, due.wasted);
      throw new AgentError({ ...(error ?? unknownFailure).toJSON(), attempts: result.attempts, wasted });
    }
    if (rest.type === 'other') builder.say(`\n\n${rest.text}`);
    else if (rest.type === 'rest') builder.say(rest.text);
    else if (builder.isEmpty) builder.say(result.output);
    const ending = this.#queued.length > 0 ? 'pause' : lastStop(stop);
    return {
      ...this.#response(live, builder, { stop: ending, usage: due.usage }),
      attempts: result.attempts,
      wasted: due.wasted,
    };
  }

  /** Reports the cost known so far; the rest is reported with the next task. */
  #cancelled(live: ActiveTask, builder: ResponseBuilder): AgentError {
    const due = live.taskUsage.settle(builder.usage);
    this.#price = priceOf(due) ?? this.#price;
    const message = 'The program was stopped: the run ended.';
    const wasted = addUsage(due.usage, due.wasted);
    return new AgentError({ kind: 'aborted', code: 'run_stopped', message, wasted });
  }

  #spend({ usage, wasted, usd = 0 }: BackendResult): void {
    this.#spentTokens += tokensOf(usage) + tokensOf(wasted);
    this.#spentUsd += usd;
  }

  /** Returns the task options with the remaining limits, which apply to all tasks of a run together. */
  #jobWithin(): BackendAgentOptions['job'] {
    const { job } = this.#options;
    const maxUsd = job.maxUsd === undefined ? undefined : job.maxUsd - this.#spentUsd;
    const maxTokens = job.maxTokens === undefined ? undefined : job.maxTokens - this.#spentTokens;
    if ((maxUsd ?? 1) <= 0)
      throw new AgentError({ kind: 'limit', code: 'usd', message: 'The cost limit was reached.' });
    if ((maxTokens ?? 1) <= 0)
      throw new AgentError({ kind: 'limit', code: 'tokens', message: 'The token limit was reached.' });
    return {
      ...job,
      maxTurns: Math.max(1, job.maxTurns - this.#requestCount + 1),
      ...defined({ maxUsd, maxTokens }),
    };
  }

  #response(
    live: ActiveTask,
    builder: ResponseBuilder,
    how: { stop: StopReason; usage: Usage },
  ): ModelResponse {
    const { stop, usage } = how;
    if (stop === 'tool_use' || stop === 'pause') {
      if (this.#live !== undefined) live.taskUsage.record(usage);
      if (this.#live !== undefined) this.#price = this.#options.backend.tellsCost ? forNow : undefined;
    }
    const seal = conversationPart(this.provider, { session: this.#sessionId, totals: this.#totals });
    const parts = builder.parts.map((part) => knownName(part, this.#options.tools ?? []));
    const content: AssistantPart[] = [...parts, ...seal];
    const message = { role: 'assistant', content } as const;
    return {
      content: textOf(message),
      toolCalls: callsOf(message),
      usage,
      stopReason: stop,
      message,
      model: builder.model ?? this.model,
      attempts: 1,
      wasted: noUsage,
    };
  }
}

const resumePrompt = 'Continue where you were interrupted.';

/** The program reports its cost with the last response, for all responses. */
const forNow: Price = { input: 0, output: 0 };

const unknownFailure: AgentError = new AgentError({
  kind: 'agent',
  code: 'no_reason',
  message: 'The program failed.',
});

/** Returns the stop reason of the last response. A program that ended normally makes no more calls. */
function lastStop(stop: StopReason | undefined): StopReason {
  return stop === undefined || stop === 'tool_use' || stop === 'pause' ? 'complete' : stop;
}

/** Returns the messages since the last response. */
function lastUserMessages(messages: readonly Message[]): Message[] {
  const answered = messages.findLastIndex(({ role }) => role === 'assistant');
  const userMessages = messages.slice(answered + 1).filter(({ role }) => role === 'user');
  if (userMessages.some(({ content }) => content.some(({ type }) => type !== 'text'))) {
    const message =
      'A backend accepts text only. Remove images and documents, or refer to their files by path.';
    throw new AgentError({ kind: 'invalid', code: 'media', message });
  }
  return userMessages;
}

function textsOf(userMessages: readonly Message[]): string {
  return userMessages.map(textOf).join('\n\n');
}

/** Returns true if the last message was added between calls and the next response. */
function endsCalls(messages: readonly Message[]): boolean {
  const before = messages.findLast(({ role }) => role !== 'user');
  return before?.role === 'tool_result';
}
