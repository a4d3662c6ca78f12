import type { Compacted } from '../context/compaction.ts';
import { inputBound } from '../context/context.ts';
import { estimateTokens, prefixTokens, roughTextTokens, textTokens } from '../context/tokens.ts';
import type { CompactedEvent, EventBody } from '../events/event.ts';
import { safeCut } from '../events/fold.ts';
import { addUsd } from '../events/spending.ts';
import type { Agent, ModelRef, ModelRequest, ModelResponse, TriedModel } from '../interfaces/agent.ts';
import type { RequestUsage } from '../interfaces/metrics.ts';
import { readTool } from '../interfaces/tool.ts';
import { triedBy } from '../run/compose/attribution.ts';
import { defined } from '../values/defined.ts';
import { AgentError } from '../values/errors.ts';
import { amount, any, data, listOf, optional, read, record, text } from '../values/input.ts';
import { maxOutputBytes } from '../values/sizes.ts';
import { cap } from '../values/truncate.ts';
import { wellFormedText } from '../values/unicode.ts';
import type { Usage } from '../values/usage.ts';
import { addUsage, noUsage } from '../values/usage.ts';
import { withQuestion } from './ask-user.ts';
import { changedSummary, skipsCompaction } from './hooks.ts';
import type { RequestSpending } from './request-cost.ts';
import { requestCost } from './request-cost.ts';
import type { RunContext } from './run-context.ts';
import { askWithin } from './send-request.ts';

/**
 * Shortens the conversation. If nothing can be left out, that is recorded too: the run then continues with the full
 * conversation, or fails with the provider's error. A failed compaction ends the run.
 */
export async function compact(run: RunContext): Promise<void> {
  run.cached = undefined;
  await run.log.record(await compacted(run));
}

async function compacted(run: RunContext): Promise<readonly EventBody[]> {
  const { state } = run;
  const began = run.config.runtime.monotonic();
  const account = new Account(run);
  try {
    const { hooks, context } = run.config;
    const skips = hooks.length > 0 && (await skipsCompaction(run));
    const compaction = skips ? undefined : context?.compact;
    // Messages sent in the meantime are added to the state, not to the copy that is shortened.
    const made = read(
      await compaction?.([...state.messages], {
        agent: run.config.agent,
        ...defined({ asked: run.config.compact }),
        signal: run.signal,
        ask: (request, agent = run.config.agent) => account.ask(agent, request),
      }),
      compactedFields,
      'context.compact()',
    );
    const upTo = safeCut(state.messages, made?.upTo ?? 0);
    const written = { upTo, summary: made?.summary ?? '' };
    const { summary } = upTo === 0 || hooks.length === 0 ? written : await changedSummary(run, written);
    const kept = upTo === 0 ? '' : cap(wellFormedText(summary), maxOutputBytes);
    const sizes = upTo === 0 ? {} : sizesOf(run, upTo, kept);
    return [{ type: 'compacted', upTo, summary: kept, ...sizes, ...account.spent(), ...account.model }];
  } catch (thrown) {
    const reason = AgentError.from(thrown, 'agent', 'no_summary');
    const error = { ...reason.toJSON(), ...account.wasted() };
    const durationMs = run.config.runtime.monotonic() - began;
    const failed = { type: 'ask_failed', error, durationMs, compacting: true } as const;
    return await withQuestion(run, { ...failed, ...account.usd(), ...account.model }, reason);
  }
}

/** Estimates the size of the conversation before and after its first messages become a summary. */
function sizesOf(
  { state, config }: RunContext,
  upTo: number,
  summary: string,
): Pick<CompactedEvent, 'tokensBefore' | 'tokensAfter'> {
  const tokensBefore = estimateTokens(state, prefixTokens(config.system, config.tools));
  const older = state.messages.slice(0, upTo).reduce((sum, message) => sum + roughTextTokens(message), 0);
  return { tokensBefore, tokensAfter: Math.max(tokensBefore - older, 0) + textTokens(summary) };
}

const requestFields = record<ModelRequest>(
  { messages: data, tools: listOf(readTool), system: any, config: any, output: any },
  ['messages', 'tools'],
);

const compactedFields = optional(record<Compacted>({ upTo: amount, summary: text }, ['upTo', 'summary']));

/** Adds up the usage of the requests that one compaction sends. */
class Account {
  readonly #run: RunContext;
  #spent = { answers: 0, usage: noUsage, wasted: noUsage, attempts: 0, durationMs: 0 };
  #usd: number | undefined = 0;
  #model: ModelRef | undefined;
  #hasResponse = false;
  readonly #tried: TriedModel[] = [];

  constructor(run: RunContext) {
    this.#run = run;
  }

  /** Sends a request and adds its usage. Throws AgentError if the request fails. */
  async ask(agent: Agent, given: ModelRequest): Promise<ModelResponse> {
    const run = this.#run;
    const request = read(given, requestFields, 'request');
    const began = run.config.runtime.monotonic();
    const { messages } = request;
    const bound = () =>
      inputBound({ messages: [...messages], contextTokens: 0, contextMessages: 0 }, request);
    try {
      // Readers of the run wait for a response, so they do not see the text of the summary.
      const asked = { agent, request, inputTokens: bound, emit: () => {} };
      const { response } = await askWithin(run, asked);
      const { model, servedBy: { provider } = agent } = response;
      this.#spent.answers += 1;
      this.#hasResponse = true;
      this.#model = { provider, model };
      this.#book(agent, response);
      return response;
    } catch (thrown) {
      const error = AgentError.from(thrown);
      const { wasted, attempts = 0 } = error;
      if (!this.#hasResponse) this.#model = { provider: agent.provider, model: agent.model };
      this.#book(agent, { wasted, attempts, tried: triedBy(agent, error) });
      throw thrown;
    } finally {
      this.#spent.durationMs += run.config.runtime.monotonic() - began;
    }
  }

  /** Returns the usage for the event of a compaction that succeeded. */
  spent(): { spent?: RequestUsage } {
    const { attempts } = this.#spent;
    return attempts === 0 ? {} : { spent: { ...this.#spent, ...this.usd(), ...this.#others() } };
  }

  /** The model that responded last, or that was asked last if none responded. */
  get model(): Partial<ModelRef> {
    return this.#model ?? {};
  }

  /** Returns the other models, which failed. */
  #others(): { tried?: readonly TriedModel[] } {
    const { provider, model } = this.model;
    const others = this.#tried.filter((tried) => tried.provider !== provider || tried.model !== model);
    return others.length === 0 ? {} : { tried: others };
  }

  /** Returns the total cost; absent if no request was sent or a price is unknown. */
  usd(): { usd?: number } {
    return this.#usd === undefined || this.#spent.attempts === 0 ? {} : { usd: this.#usd };
  }

  /** Returns the usage for the error of a compaction that failed: all of it was wasted. */
  wasted(): { wasted?: Usage; attempts?: number; tried?: readonly TriedModel[] } {
    const { usage, wasted, attempts } = this.#spent;
    return attempts === 0 ? {} : { wasted: addUsage(usage, wasted), attempts, ...this.#others() };
  }

  #book(agent: Agent, used: RequestSpending & { readonly attempts?: number }): void {
    const spent = this.#spent;
    const { usage, wasted = noUsage, attempts = 0 } = used;
    if (usage !== undefined) spent.usage = addUsage(spent.usage, usage);
    spent.wasted = addUsage(spent.wasted, wasted);
    spent.attempts += attempts;
    const { usd, tried = [] } = requestCost(this.#run, agent, used);
    this.#usd = addUsd(this.#usd, usd);
    this.#tried.push(...tried);
  }
}
