import type { Event, Usage } from '@cobbler/agent';
import { addUsage, noUsage } from '@cobbler/agent';
import type { AssistantEvent } from '@cobbler/agent/events';
import { addUsd, spendingOf } from '@cobbler/agent/events';
import { defined } from '@cobbler/agent/values';

/** Usage of a session's own runs; events copied by a fork count in the original session. */
export interface SessionUsage extends Pick<AssistantEvent, 'usage' | 'wasted' | 'usd'> {
  readonly runs: number;
  /** Number of model responses. */
  readonly invocations: number;
  readonly toolCalls: number;
}

/** Computes the usage from a log: each response and each summary counts once, however often its run continued. */
export class SessionUsageCounter {
  #usage: Usage = noUsage;
  #wasted: Usage = noUsage;
  #usd: number | undefined = 0;
  readonly #counts = { runs: 0, invocations: 0, toolCalls: 0 };
  #seq = 0;

  /** The last counted event; add the events after it next. */
  get seq(): number {
    return this.#seq;
  }

  /** Counts events; those already counted change nothing. */
  add(events: readonly Event[]): void {
    for (const event of events) if (event.seq > this.#seq) this.#add(event);
  }

  get sum(): SessionUsage {
    const usd = this.#usd;
    return { ...this.#counts, usage: this.#usage, wasted: this.#wasted, ...defined({ usd }) };
  }

  #add(event: Event): void {
    this.#seq = event.seq;
    const counts = this.#counts;
    if (event.inherited === true) return;
    if (event.type === 'user' && event.steer !== true) counts.runs += 1;
    if (event.type === 'tool_started') counts.toolCalls += 1;
    const spent = spendingOf(event);
    if (spent === undefined) return;
    counts.invocations += spent.answers ?? 1;
    this.#usage = addUsage(this.#usage, spent.usage);
    this.#wasted = addUsage(this.#wasted, spent.wasted);
    this.#usd = addUsd(this.#usd, spent.usd);
  }
}
