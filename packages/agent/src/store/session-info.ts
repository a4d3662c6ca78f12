import type { Event, RunStatus } from '../events/event.ts';
import { ignore } from '../events/event-groups.ts';
import { addUsd, spendingOf } from '../events/spending.ts';
import { defined } from '../values/defined.ts';
import { argumentError, withArgumentErrors } from '../values/errors.ts';
import { isoTime } from '../values/runtime.ts';

/**
 * The status of a session: how its last run ended, that a run is in progress, or that a run was interrupted because its
 * process crashed.
 */
export type SessionStatus = RunStatus | 'running' | 'interrupted';

/** The session and event after which a fork starts. */
export interface Parent {
  readonly sessionId: string;
  /** Sequence number of the last shared event. */
  readonly seq: number;
}

/** What a share allows a user: to read the session, also to decide its approvals, or to use it like its owner. */
export type ShareLevel = 'read' | 'approve' | 'use';

/** A user with whom a session is shared. */
export interface Share {
  readonly user: string;
  readonly may: ShareLevel;
}

/** A session as shown in a list. */
export interface SessionInfo {
  readonly id: string;
  /** The title set by the user, or the start of the first prompt; empty if there is neither. */
  readonly title: string;
  /** Time at which the session was created in this store, ISO 8601. */
  readonly createdAt: string;
  /** Time at which a run last started or ended, ISO 8601. */
  readonly updatedAt: string;
  readonly status: SessionStatus;
  /** The user of its first event, to whom it belongs. Absent if that event names none. */
  readonly user?: string;
  /** The model of the last response. */
  readonly model?: string;
  readonly events: number;
  /** Number of user messages, including steering. */
  readonly prompts: number;
  readonly answers: number;
  /** Number of started tool calls. */
  readonly toolCalls: number;
  /** Input tokens of this session's own runs, without failed attempts and without events copied by a fork. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Cost of this session in US dollars, without events copied by a fork; undefined if a price is unknown. */
  readonly usd?: number;
  readonly parent?: Parent;
  /** The users with whom it is shared. Absent if there are none. */
  readonly shares?: readonly Share[];
}

/** Statistics computed from the events of a session: plain data that a store can keep as JSON. */
export interface SessionStats {
  events: number;
  /** The start of the first prompt. */
  opening: string;
  /** Status of the last run; null if it has not ended. */
  ended: RunStatus | null;
  /** The user of the first event. Absent in statistics of an earlier version. */
  user?: string | null;
  model: string | null;
  prompts: number;
  answers: number;
  toolCalls: number;
  inputTokens: number;
  outputTokens: number;
  /** Null if the price of a response is unknown. */
  usd: number | null;
}

/** Returns the statistics of a session without events. */
export function emptyStats(): SessionStats {
  return {
    events: 0,
    opening: '',
    ended: null,
    user: null,
    model: null,
    prompts: 0,
    answers: 0,
    toolCalls: 0,
    inputTokens: 0,
    outputTokens: 0,
    usd: 0,
  };
}

/** Adds an event to the statistics. */
export function addToStats(stats: SessionStats, event: Event): void {
  try {
    if (stats.events === 0) stats.user = event.user ?? null;
    stats.events += 1;
    stats.ended = null;
    const spent = spendingOf(event);
    if (spent !== undefined) {
      stats.inputTokens += spent.usage.inputTokens;
      stats.outputTokens += spent.usage.outputTokens;
      stats.usd = addUsd(stats.usd ?? undefined, spent.usd) ?? null;
    }
    switch (event.type) {
      case 'user':
        stats.prompts += 1;
        if (stats.opening === '') stats.opening = openingOf(event.content);
        return;
      case 'history':
        stats.opening = openingOf(event.messages.find(({ role }) => role === 'user')?.content ?? []);
        return;
      case 'assistant':
        stats.answers += 1;
        stats.model = event.model;
        return;
      case 'tool_started':
        stats.toolCalls += 1;
        return;
      case 'finished':
        stats.ended = event.status;
        return;
      default:
        return ignore<'response' | 'call' | 'note'>(event);
    }
  } catch (thrown) {
    throw argumentError('addToStats', thrown);
  }
}

/** Returns the title that a message gives: the start of its first text, because attachments follow it. */
function openingOf(content: readonly { readonly type: string; readonly text?: string }[]): string {
  return titleOf(content.find(({ type }) => type === 'text')?.text ?? '');
}

const maxTitleLength = 80;

/** Converts text to a title: one line without control characters, at most 80 characters. */
export function titleOf(words: string): string {
  return withArgumentErrors('titleOf', () => {
    // Only the beginning is used, because a prompt can be a whole file.
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
  });
}

/** The data of a session that a store keeps besides its statistics. */
export interface SessionHead {
  readonly id: string;
  /** The title set by the user, if any. */
  readonly title: string | null;
  /** Creation time in milliseconds since 1970. */
  readonly created: number;
  readonly updated: number;
  readonly parent: Parent | undefined;
  readonly shares?: readonly Share[] | undefined;
}

/** Returns the shares of a session after a change. Without `may`, the share of this user ends. */
export function changedShares(
  shares: readonly Share[] | undefined,
  user: string,
  may?: ShareLevel,
): readonly Share[] | undefined {
  return withArgumentErrors('changedShares', () => {
    const others = (shares ?? []).filter((share) => share.user !== user);
    const changed = may === undefined ? others : [...others, { user, may }];
    return changed.length === 0 ? undefined : changed;
  });
}

/** Returns the session info for display. `status` applies if the last run has not ended. */
export function sessionInfo(
  given: SessionHead,
  stats: SessionStats,
  status: 'running' | 'interrupted',
): SessionInfo {
  return withArgumentErrors('sessionInfo', () => {
    const { id, title, created, updated, parent, shares } = given;
    const { opening, ended, user, model, usd, ...counts } = stats;
    return {
      id,
      title: title ?? opening,
      createdAt: isoTime(created),
      updatedAt: isoTime(updated),
      status: ended ?? status,
      ...defined({ user: user ?? undefined }),
      ...(model !== null && { model }),
      ...counts,
      ...(usd !== null && { usd }),
      ...defined({ parent, shares }),
    };
  });
}
