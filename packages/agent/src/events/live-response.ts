import { defined } from '../values/defined.ts';
import type { LiveEvent, UnstoredEnd } from './event.ts';
import { ignore } from './event-groups.ts';

/** A part of a response that is still streaming. */
export interface LiveBlock {
  readonly kind: 'text' | 'reasoning' | 'call';
  readonly index: number;
  /** The text so far. For a call: the name of its tool, once known. */
  readonly text: string;
  /** True if the part is complete. */
  readonly done: boolean;
  /** True if its start was missed. */
  readonly cut: boolean;
}

/** A failed request that will be sent again. */
export interface PendingRetry {
  readonly attempt: number;
  readonly reason: string;
  readonly delayMs: number;
  /** Time left for retries after the delay, in milliseconds. Absent if the number of retries is limited instead. */
  readonly leftMs?: number;
}

/** The current activity of a run, which is not in the log. */
export interface LiveResponse {
  readonly blocks: readonly LiveBlock[];
  /** The last lines that each running tool has reported, by the id of its call. */
  readonly progress: Readonly<Record<string, string>>;
  readonly state?: 'thinking' | 'running_tool' | 'waiting';
  readonly message?: string;
  readonly retry?: PendingRetry;
  /** True if a part may have started before the reader connected. */
  readonly joinedLate: boolean;
  /** The reason why the run ended, if the log does not contain its end. */
  readonly unstoredEnd?: string;
}

/** No activity. */
export const noLiveResponse: LiveResponse = { blocks: [], progress: {}, joinedLate: false };

/** Returns the activity after a reconnect: complete parts arrive again, but the start of an incomplete one was missed. */
export function joinedResponse(isRunning: boolean): LiveResponse {
  return { ...noLiveResponse, joinedLate: isRunning };
}

/** Returns the activity after a live event. */
export function foldLive(live: LiveResponse, event: LiveEvent | UnstoredEnd): LiveResponse {
  switch (event.type) {
    case 'finished':
      return { ...noLiveResponse, unstoredEnd: event.error?.message ?? event.status };
    case 'text_delta':
      return { ...grown(live, event.index, 'text', event.text), state: 'thinking' };
    case 'reasoning_delta':
      return { ...grown(live, event.index, 'reasoning', event.text), state: 'thinking' };
    case 'tool_input_delta':
      return grown(live, event.index, 'call', '');
    case 'text':
    case 'reasoning':
      return whole(live, { kind: event.type, index: event.index, text: event.text, done: true, cut: false });
    case 'tool_call': {
      const text = event.call.toolName;
      return whole(live, { kind: 'call', index: event.index, text, done: true, cut: false });
    }
    case 'retry': {
      const { attempt, delayMs, leftMs, error } = event;
      // The text of a failed attempt does not count.
      const retry = { attempt, delayMs, reason: error.message, ...defined({ leftMs }) };
      return { ...live, blocks: [], retry };
    }
    case 'status': {
      const { state, message } = event;
      const { message: _, ...rest } = live;
      return { ...rest, state, ...defined({ message }) };
    }
    case 'progress':
      return { ...live, progress: { ...live.progress, [event.callId]: longer(live, event) } };
    case 'started':
    case 'cache_break':
      return live;
    default:
      return ignore<never>(event) ?? live;
  }
}

/** Returns the activity after a stored event. Once the log contains the response, its live parts are removed. */
export function settledResponse({ unstoredEnd: _, ...live }: LiveResponse, type: string): LiveResponse {
  if (type === 'assistant' || type === 'ask_failed') {
    const { retry: __, ...rest } = live;
    return { ...rest, blocks: [], joinedLate: false };
  }
  return type === 'finished' ? noLiveResponse : live;
}

/** Number of lines of the progress of a call that are kept. */
const progressLines = 8;

function longer({ progress }: LiveResponse, { callId, text }: { callId: string; text: string }): string {
  const before = Object.hasOwn(progress, callId) ? `${progress[callId]}\n` : '';
  return `${before}${text}`.split('\n').slice(-progressLines).join('\n');
}

function grown(live: LiveResponse, index: number, kind: LiveBlock['kind'], text: string): LiveResponse {
  const { retry: _, ...rest } = live;
  const at = live.blocks.findIndex((block) => block.index === index);
  const block = live.blocks[at];
  if (block === undefined) {
    const fresh: LiveBlock = { kind, index, text, done: false, cut: live.joinedLate };
    return { ...rest, blocks: inOrder([...live.blocks, fresh]) };
  }
  if (block.done) return rest;
  return { ...rest, blocks: live.blocks.with(at, { ...block, text: block.text + text }) };
}

function whole(live: LiveResponse, block: LiveBlock): LiveResponse {
  const others = live.blocks.filter(({ index }) => index !== block.index);
  return { ...live, blocks: inOrder([...others, block]), joinedLate: false };
}

function inOrder(blocks: readonly LiveBlock[]): LiveBlock[] {
  return blocks.toSorted((left, right) => left.index - right.index);
}
