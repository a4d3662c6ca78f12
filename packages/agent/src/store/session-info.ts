import type { Event, RunStatus } from '../events/event.ts';
import { ignore } from '../events/event-groups.ts';
import { addUsd, spendingOf } from '../events/spending.ts';
import type { RequestUsage } from '../interfaces/metrics.ts';
import { defined } from '../values/defined.ts';
import { textOf, userMessage } from '../values/message.ts';
import { isoTime } from '../values/runtime.ts';

/** Where a session stands: how its last run ended, or that one is under way, or was when its process died. */
export type SessionStatus = RunStatus | 'running' | 'interrupted';

/** The event of another session that a session begins after. */
export interface Parent {
  readonly sessionId: string;
  /** The last event that both have. */
  readonly seq: number;
}

/** What people see of a session in a list. */
export interface SessionInfo {
  readonly id: string;
  /** The given title, else the first words said; empty when there are none. */
  readonly title: string;
  /** When this store first had it, ISO 8601. */
  readonly createdAt: string;
  /** When a run last began or ended in it, ISO 8601. */
  readonly updatedAt: string;
  readonly status: SessionStatus;
  /** The model that answered last. */
  readonly model?: string;
  readonly events: number;
  /** What people said, steering included. */
  readonly prompts: number;
  readonly answers: number;
  /** Tools that were started. */
  readonly toolCalls: number;
  /** All tokens of this session's own runs, those of failed attempts and of what a fork has copied left out. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars that this session cost, without what a fork has copied; absent when a price is unknown. */
  readonly usd?: number;
  readonly parent?: Parent;
}

/** What counting the events of a session gives: plain data that a store may keep as JSON. */
export interface SessionStats {
  events: number;
  /** The beginning of the first words said. */
  opening: string;
  /** How the last run ended; nothing while it has not. */
  ended: RunStatus | null;
  model: string | null;
  prompts: number;
  answers: number;
  toolCalls: number;
  inputTokens: number;
  outputTokens: number;
  /** Nothing when the price of an answer is unknown. */
  usd: number | null;
}

/** The tally of a session without events. */
export function emptyStats(): SessionStats {
  return {
    events: 0,
    opening: '',
    ended: null,
    model: null,
    prompts: 0,
    answers: 0,
    toolCalls: 0,
    inputTokens: 0,
    outputTokens: 0,
    usd: 0,
  };
}

/** Counts one more event. */
export function addToStats(tally: SessionStats, event: Event): void {
  tally.events += 1;
  tally.ended = null;
  spend(tally, spendingOf(event));
  switch (event.type) {
    case 'user':
      tally.prompts += 1;
      if (tally.opening === '') tally.opening = titleOf(textOf(userMessage(event.content)));
      return;
    case 'history':
      tally.opening = titleOf(firstWords(event.messages));
      return;
    case 'assistant':
      tally.answers += 1;
      tally.model = event.model;
      return;
    case 'tool_started':
      tally.toolCalls += 1;
      return;
    case 'finished':
      tally.ended = event.status;
      return;
    default:
      return ignore<'response' | 'call' | 'note'>(event);
  }
}

function spend(tally: SessionStats, spent: RequestUsage | undefined): void {
  if (spent === undefined) return;
  tally.inputTokens += spent.usage.inputTokens;
  tally.outputTokens += spent.usage.outputTokens;
  tally.usd = addUsd(tally.usd ?? undefined, spent.usd) ?? null;
}

function firstWords(messages: Extract<Event, { type: 'history' }>['messages']): string {
  const first = messages.find(({ role }) => role === 'user');
  return first === undefined ? '' : textOf(first);
}

const maxTitleLength = 80;

/** Words as a title: one line without control characters, at most 80 characters. */
export function titleOf(words: string): string {
  // Only the beginning counts, and a prompt may be a whole file.
  const line = words
    .slice(0, 1000)
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  const characters = [...line];
  return characters.length > maxTitleLength
    ? `${characters
        .slice(0, maxTitleLength - 1)
        .join('')
        .trimEnd()}…`
    : line;
}

/** What a store knows of a session besides its tally. */
export interface SessionHead {
  readonly id: string;
  /** The given title, if any. */
  readonly title: string | null;
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly updated: number;
  readonly parent: Parent | undefined;
}

/** A session as people see it. `status` is what it is when its last run has not ended. */
export function sessionInfo(
  { id, title, created, updated, parent }: SessionHead,
  tally: SessionStats,
  status: 'running' | 'interrupted',
): SessionInfo {
  const { opening, ended, model, usd, ...counts } = tally;
  return {
    id,
    title: title ?? opening,
    createdAt: isoTime(created),
    updatedAt: isoTime(updated),
    status: ended ?? status,
    ...(model !== null && { model }),
    ...counts,
    ...(usd !== null && { usd }),
    ...defined({ parent }),
  };
}
