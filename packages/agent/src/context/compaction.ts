import { safeCut, summaryHeading } from '../events/fold.ts';
import type { Agent, ModelRequest, ModelResponse } from '../interfaces/agent.ts';
import { AgentError } from '../values/errors.ts';
import type { Message } from '../values/message.ts';
import { textOf } from '../values/message.ts';
import { cap } from '../values/truncate.ts';

/** What is to stand in the place of older messages. */
export interface Compacted {
  /** Messages before this index are replaced. Moved down where it would part a call from its result. */
  readonly upTo: number;
  readonly summary: string;
}

/** What a compaction may use of the run. */
export interface CompactionContext {
  /** The agent of the run. */
  readonly agent: Agent;
  /** Aborted when the run must stop. */
  readonly signal: AbortSignal;
  /**
   * Asks a model on the budget of the run, which counts what it uses. Default: the agent of the run.
   * Rejects with AgentError `limit` when the budget has no room for the request.
   */
  ask(request: ModelRequest, agent?: Agent): Promise<ModelResponse>;
}

/**
 * One way to make a conversation smaller. Asked between turns only. Nothing means that there is nothing to
 * make smaller; what it throws fails the run.
 */
export type Compaction = (
  messages: readonly Message[],
  means: CompactionContext,
) => Compacted | undefined | Promise<Compacted | undefined>;

/** Up to where messages may be replaced: all but the last `keep`, and never between a call and its result. */
export function compactionPoint(messages: readonly Message[], keep: number): number {
  return safeCut(messages, messages.length - keep);
}

/** Most bytes of the user's own words that survive. */
const maxWords = 8_192;

/** Keeps the last `count` messages. Of those before, only what the user said is kept, since it is the task. */
export function keepLast(count: number): Compaction {
  return (messages) => {
    const upTo = compactionPoint(messages, count);
    const older = messages.slice(0, upTo);
    // To replace nothing but the last summary would only wrap it once more.
    if (older.every(isSummary)) return undefined;
    return { upTo, summary: cap(leftOut(older), maxWords) };
  };
}

function leftOut(messages: readonly Message[]): string {
  const said = messages.filter((message) => message.role === 'user').map(wordsOf);
  const words = said.filter((text) => text !== '');
  const told = 'Earlier messages were left out to save room.';
  return words.length === 0 ? told : [`${told} The user had said:`, ...words].join('\n\n');
}

function isSummary(message: Message): boolean {
  return message.role === 'user' && textOf(message).startsWith(summaryHeading);
}

/** A summary of before is passed on without its heading. */
function wordsOf(message: Message): string {
  const text = textOf(message);
  return isSummary(message) ? text.slice(summaryHeading.length) : text;
}

/**
 * The first of several ways that works: one that throws, or finds nothing to make smaller, leaves it to the
 * next. What the last one does counts, so `firstOf(summarize(), keepLast(20))` outlives a summary that fails,
 * and with `() => undefined` at the end the run goes on as it is.
 */
export function firstOf(...compactions: readonly Compaction[]): Compaction {
  return async (messages, means) => {
    for (const [index, compaction] of compactions.entries()) {
      try {
        const made = await compaction(messages, means);
        if (made !== undefined) return made;
      } catch (thrown) {
        if (means.signal.aborted || index === compactions.length - 1) throw AgentError.from(thrown);
      }
    }
    return undefined;
  };
}
