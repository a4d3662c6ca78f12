import type { Event, Spending } from '@cobbler/agent';
import { AgentError, costOf } from '@cobbler/agent';
import { defined, isoTime } from '@cobbler/agent/values';
import type { AssistantDependencies } from './dependencies.ts';

/** The session that records what requests outside of a run cost. Only one run writes to it. */
export interface SpendingLog {
  readonly sessionId: string;
  readonly runId: string;
  readonly user?: string | undefined;
}

/** Returns a function that records what a request cost. A failure is reported, because the request has been answered. */
export function recordSpending(
  { turns, runtime, report, pricing }: AssistantDependencies,
  { sessionId, runId, user }: SpendingLog,
): (spending: Spending) => Promise<void> {
  return async (spending) => {
    try {
      const epoch = await turns.claim(sessionId);
      const seq = (await turns.read(sessionId)).length + 1;
      const head = {
        v: 1,
        seq,
        id: `${sessionId}-${seq}`,
        time: isoTime(runtime.now()),
        runId,
        ...defined({ user }),
      } as const;
      const event: Event = { ...head, type: 'spent', ...priced(spending, pricing) };
      await turns.append(sessionId, [event], { epoch, release: true });
    } catch (thrown) {
      report(AgentError.from(thrown), `recording the cost of ${runId}`);
    }
  };
}

function priced(spending: Spending, pricing: AssistantDependencies['pricing']): Spending {
  const { provider = '', model = '', spent } = spending;
  const price = spent.usd === undefined ? pricing?.(provider, model, spent.usage.inputTokens) : undefined;
  if (price === undefined) return spending;
  return { ...spending, spent: { ...spent, usd: costOf(spent.usage, price) + costOf(spent.wasted, price) } };
}
