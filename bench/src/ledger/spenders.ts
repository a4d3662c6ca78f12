import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Event, ExecutionMetrics, ModelResponse, Price, Spending, Tool, Usage } from '@cobbler/agent';
import { AgentError, addUsage, costOf, memoryStore, noUsage } from '@cobbler/agent';
import { summarize } from '@cobbler/agent/context';
import { spendingOf } from '@cobbler/agent/events';
import type { ReadRequest, SeededRandom } from '@cobbler/agent/testing';
import { callBlock, seededRandom } from '@cobbler/agent/testing';
import type { MemoryIndex } from '@cobbler/assistant';
import { remember } from '@cobbler/assistant';
import type { Backend, BackendResult } from '@cobbler/delegate';
import { createAgentTool } from '@cobbler/delegate/agent-tool';
import { costOf as costOfBill, tokensOf } from './bill.ts';
import type { Reply } from './service.ts';
import { reader, Stage, words } from './stage.ts';
import type { Subject } from './subjects.ts';

/** Input prices as in the mock service's ledger, so that its bill and the recorded cost are comparable. */
const price: Price = { input: 100, output: 500, cacheRead: 10, cacheWrite: 125, cacheWriteLong: 200 };

/** What one tree of runs has recorded, and what the service charges for it. */
export interface SpenderTotals {
  readonly recorded: Usage;
  readonly usd: number;
  readonly charged: { readonly inputTokens: number; readonly outputTokens: number; readonly usd: number };
  /** The recorded input tokens that no service counted before its stream ended. */
  readonly estimatedInput: number;
  /** The input tokens of responses that were cut off, in the ledger. */
  readonly cutInput: number;
  /** The metrics of the first run, and the same sum from its log. */
  readonly metrics: ExecutionMetrics;
  readonly logged: number;
  /** The kinds of requests in the log. */
  readonly kinds: ReadonlySet<string>;
}

/**
 * Runs a tree of three levels of runs with summaries, a delegated program that fails and starts again, and a summary for a memory, on
 * a service that is sometimes overloaded, cut off or so slow that the user cancels.
 */
export async function performSpenders(subject: Subject, seed: number): Promise<SpenderTotals> {
  const random = seededRandom(seed);
  const abort = new AbortController();
  const stage = new Stage(subject, (request, index) => replyTo(request, index, random, () => abort.abort()));
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-spenders-'));
  const store = memoryStore();
  const delegating = createAgentTool({
    ...{ workspace: folder, sessionsFile: null, timeoutMs: 1e9 },
    backends: [programOn(stage)],
  });
  try {
    const options = {
      ...{ store, pricing: () => price, system: words('Mind the details. ', 6_000) },
      tools: [helper(stage, 2), reader('read', 3_000), delegating],
      context: { compact: summarize(undefined, { keep: 2 }), maxTokens: 4_000 },
      toolScheduling: 'sequential' as const,
      limits: { turns: 12 },
    };
    const { metrics } = await stage.play('Go.', options, { sessionId: 'tree', signal: abort.signal });
    const spendings = await summarizedForMemory(stage);
    return totalsOf(stage, await store.read('tree'), metrics, spendings);
  } finally {
    await delegating.close();
    rmSync(folder, { recursive: true });
  }
}

function replyTo({ tools }: ReadRequest, index: number, random: SeededRandom, cancel: () => void): Reply {
  const names = tools.map(({ name }) => name);
  const text = words(`Part ${index}. `, random.between(80, 500));
  if (random.chance(0.08)) return { blocks: [], trouble: 'overloaded' };
  const name = names.length === 0 || random.chance(0.15) ? undefined : random.pick(names);
  const blocks =
    name === undefined ? [text] : [text, callBlock(`call_${index}`, name, argumentsOf(name, index))];
  if (random.chance(0.08)) return { blocks, trouble: 'cut' };
  if (names.length > 0 && random.chance(0.02)) return { blocks, trouble: 'stalled', onStall: cancel };
  return { blocks };
}

function argumentsOf(name: string, index: number): Record<string, string> {
  if (name === 'agent') return { action: 'create', backend: 'program', prompt: `Part ${index}.` };
  return name === 'read' ? { path: `p${index}` } : { prompt: `Do part ${index}.` };
}

/** Returns a sub-agent; one on level 2 has another one. */
function helper(stage: Stage, level: number): Tool {
  const tools = [reader('read', 2_000), ...(level < 3 ? [helper(stage, level + 1)] : [])];
  return stage
    .executor({ tools, pricing: () => price, limits: { turns: 4 } })
    .asTool({ name: `helper_${level}`, description: 'Does a part of the work.' });
}

/** A program that sends requests of its own: its first attempt fails after one, and its second sends another. */
function programOn({ agent }: Stage): Backend {
  const ask = async (signal?: AbortSignal): Promise<Pick<ModelResponse, 'usage' | 'wasted'>> => {
    const messages = [{ role: 'user', content: [{ type: 'text', text: words('Do it. ', 5_000) }] }] as const;
    try {
      return await agent.run({ messages, tools: [] }, signal === undefined ? {} : { signal });
    } catch (thrown) {
      return { usage: noUsage, wasted: AgentError.from(thrown).wasted ?? noUsage };
    }
  };
  const cost = (usage: Usage) => (usage === noUsage ? 0 : costOf(usage, price));
  return {
    name: 'program',
    capabilities: { tools: false, gate: false, steer: false, fork: false, deltas: false },
    tellsCost: true,
    problem: () => undefined,
    run: () => Promise.reject(new Error('The tool only starts tasks.')),
    start(_request, context) {
      const work = async (): Promise<BackendResult> => {
        const first = await ask(context?.signal);
        const wasted = addUsage(first.usage, first.wasted);
        const error = new AgentError({ kind: 'agent', message: 'Too busy.' }).toJSON();
        const usd = cost(first.usage) + cost(first.wasted);
        context?.onEvent?.({ type: 'withdrawn', attempt: 1, error, delayMs: 0, wasted, usd });
        const last = await ask(context?.signal);
        return {
          ...{ status: 'completed', output: 'Done.', exitCode: 0, totals: {}, turns: 2, toolCalls: 0 },
          ...{ usage: last.usage, wasted: addUsage(wasted, last.wasted), attempts: 2, denials: [] },
          ...{ contextLost: false, durationMs: 1, usd: usd + cost(last.usage) + cost(last.wasted) },
        };
      };
      return { result: work(), stop: () => undefined, decide: () => undefined } as never;
    },
  };
}

/** Summarizes messages for a memory. Returns what it reports. */
async function summarizedForMemory({ agent, clock }: Stage): Promise<readonly Spending[]> {
  const spendings: Spending[] = [];
  const at = { chatId: 'chat', createdAt: '2026-01-01T00:00:00.000Z' };
  const all = Array.from({ length: 50 }, (_, index) => {
    return { ...at, id: `m${index}`, role: 'user', content: words(`Fact ${index}. `, 200) } as const;
  });
  const memory: MemoryIndex = {
    ...{ add: async () => {}, search: async () => [], list: async () => [], forget: async () => 0 },
  };
  const messages = {
    ...{ unsummarised: async (_chat: string, keep: number) => all.slice(0, all.length - keep) },
    ...{ summarised: async () => {}, add: async () => true, recent: async () => [] },
    ...{ startFresh: async () => {}, all: async () => all, forget: async () => 0 },
  };
  const onSpent = (spending: Spending) => void spendings.push(spending);
  const options = { agent, memory, messages: messages as never, chatId: 'chat', onSpent };
  await clock.until(remember(options).catch(() => undefined));
  return spendings;
}

function totalsOf(
  { service }: Stage,
  events: readonly Event[],
  metrics: ExecutionMetrics,
  memory: readonly Spending[],
): SpenderTotals {
  const logged = events.flatMap((event) => spendingOf(event) ?? []);
  const priced = memory.map(({ spent }) => ({
    ...spent,
    usd: costOf(spent.usage, price) + costOf(spent.wasted, price),
  }));
  const all = [...logged, ...priced];
  const parts = all.flatMap(({ usage, wasted }) => [usage, wasted]);
  const output = service.output('answered') + service.output('cut');
  return {
    recorded: parts.reduce(addUsage, noUsage),
    usd: all.reduce((sum, { usd }) => sum + (usd ?? Number.NaN), 0),
    charged: {
      inputTokens: tokensOf(service.bill),
      outputTokens: output,
      usd: costOfBill(service.bill) / 1_000_000 + (output * price.output) / 1_000_000,
    },
    estimatedInput: parts.reduce((sum, part) => sum + (part.estimated === true ? part.inputTokens : 0), 0),
    cutInput: tokensOf(service.input('cut')),
    metrics,
    logged: logged.reduce((sum, { usd }) => sum + (usd ?? Number.NaN), 0),
    kinds: new Set([
      ...events.map((event) => (event.type === 'spent' ? event.who : event.type)),
      ...memory.map(({ who }) => who),
    ]),
  };
}

/**
 * The estimated input of a cut response may differ from the true one by this share, and its price is that of input without a
 * cache: at most a fifth too low if the service writes it to a cache, and at most ten times too high if it reads it from there.
 */
const estimateBound = { share: 0.1, tokens: 100, low: 1.25, high: 10 } as const;

/** Returns whether the recorded totals equal the charged ones. A service that charged nothing proves nothing. */
export function isEqual({ recorded, usd, charged }: SpenderTotals): boolean {
  const { inputTokens, outputTokens } = recorded;
  const isSame =
    inputTokens > 0 && inputTokens === charged.inputTokens && outputTokens === charged.outputTokens;
  return isSame && Math.abs(usd - charged.usd) < 1e-9;
}

/** Returns whether the recorded totals equal the charged ones, except for estimates within their bound. */
export function withinBound(totals: SpenderTotals, { countsEarly }: Subject): boolean {
  const { recorded, usd, charged, estimatedInput, cutInput } = totals;
  if (countsEarly || cutInput === 0) return isEqual(totals);
  const off = recorded.inputTokens - charged.inputTokens;
  const isOutputExact = recorded.outputTokens === charged.outputTokens;
  const { share, tokens, low, high } = estimateBound;
  const most = cutInput * share + tokens;
  const unit = price.input / 1_000_000;
  const isPriced =
    usd - charged.usd >= -(cutInput * (low - 1) + most) * unit &&
    usd - charged.usd <= (cutInput * (1 - 1 / high) + most) * unit;
  return isOutputExact && estimatedInput > 0 && Math.abs(off) <= most && isPriced;
}
