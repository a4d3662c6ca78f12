import { safeCut, summaryHeading } from '../events/fold.ts';
import type { Agent, ModelRequest, ModelResponse } from '../interfaces/agent.ts';
import { AgentError } from '../values/errors.ts';
import { amount, callable, listOf, read } from '../values/input.ts';
import type { Message } from '../values/message.ts';
import { textOf } from '../values/message.ts';
import { cap } from '../values/truncate.ts';

/** A summary that replaces older messages. */
export interface Compacted {
  /** Messages before this index are replaced. Lowered if it would separate a call from its result. */
  readonly upTo: number;
  readonly summary: string;
}

/** A user's request to shorten the conversation now. */
export interface AskedCompaction {
  /** What the summary must keep, in the user's own words. */
  readonly keep?: string;
}

/** The parts of a run that a compaction can use. */
export interface CompactionContext {
  /** The agent of the run. */
  readonly agent: Agent;
  /** Set if a user asked for this compaction. */
  readonly asked?: AskedCompaction;
  /** Aborted when the run must stop. */
  readonly signal: AbortSignal;
  /**
   * Sends a request to a model and charges it to the budget of the run. Default: the agent of the run. Rejects with
   * AgentError `limit` if the budget has no room for the request.
   */
  ask(request: ModelRequest, agent?: Agent): Promise<ModelResponse>;
}

/**
 * Shortens a conversation; called only between turns. Returns undefined if there is nothing to shorten. The run fails
 * if it throws.
 */
export type Compaction = (
  messages: readonly Message[],
  means: CompactionContext,
) => Compacted | undefined | Promise<Compacted | undefined>;

/**
 * Returns the index up to which messages can be replaced: all but the last `keep`, and never between a call and its
 * result.
 */
export function compactionPoint(messages: readonly Message[], keep: number): number {
  return safeCut(messages, messages.length - keep);
}

/** Maximum number of bytes of the user's own messages that are kept. */
const maxWords = 8_192;

/** Keeps the last `count` messages. Of the earlier ones, only the user's messages are kept, because they contain the task. */
export function keepLast(count: number): Compaction {
  const kept = read(count, amount, 'count');
  return (messages) => {
    const upTo = compactionPoint(messages, kept);
    const older = messages.slice(0, upTo);
    // Replacing only the previous summary would just wrap it again.
    if (older.every(isSummary)) return undefined;
    return { upTo, summary: cap(leftOut(older), maxWords) };
  };
}

function leftOut(messages: readonly Message[]): string {
  const texts = messages.filter((message) => message.role === 'user').map(wordsOf);
  const words = texts.filter((text) => text !== '');
  const notice = 'Earlier messages were omitted to save space.';
  return words.length === 0 ? notice : [`${notice} The user had said:`, ...words].join('\n\n');
}

function isSummary(message: Message): boolean {
  return message.role === 'user' && textOf(message).startsWith(summaryHeading);
}

/** Returns the text of a message, without the heading if it is a summary. */
function wordsOf(message: Message): string {
  const text = textOf(message);
  return isSummary(message) ? text.slice(summaryHeading.length) : text;
}

/**
 * Tries several compactions in order: if one throws or has nothing to shorten, the next one is used. The outcome of
 * the last one is final. `firstOf(summarize(), keepLast(20))` therefore survives a failed summary, and with
 * `() => undefined` at the end the run continues with the full conversation.
 */
export function firstOf(...compactions: readonly Compaction[]): Compaction {
  read(compactions, listOf(callable), 'compactions');
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
