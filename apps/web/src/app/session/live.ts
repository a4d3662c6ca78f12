import type { LiveEvent } from '@cobbler/agent';
import type { UnstoredEnd } from '@cobbler/agent/events';
import { defined } from '@cobbler/agent/values';

/** A part of an answer that is still being written. */
export interface LiveBlock {
  readonly kind: 'text' | 'reasoning' | 'call';
  readonly index: number;
  /** For a call: the name of its tool, once known. */
  readonly text: string;
  /** The whole of it is known. */
  readonly done: boolean;
  /** Its start was missed: the view says so. */
  readonly cut: boolean;
}

/** A failed request that is made again. */
export interface Retry {
  readonly attempt: number;
  readonly reason: string;
  readonly delayMs: number;
  /** For how long requests are still made after the pause, in milliseconds. */
  readonly leftMs?: number;
}

/** Current activity that is not in the log. */
export interface LiveActivity {
  readonly blocks: readonly LiveBlock[];
  /** The line that each tool that runs has printed last, by the id of its call. */
  readonly progress: Readonly<Record<string, string>>;
  readonly state?: 'thinking' | 'running_tool' | 'waiting';
  readonly message?: string;
  readonly retry?: Retry;
  /** True if a new part may have started before the connection. */
  readonly joinedLate: boolean;
  /** Why the run ended, where the log does not have its end. */
  readonly unstoredEnd?: string;
}

export const nothingLive: LiveActivity = { blocks: [], progress: {}, joinedLate: false };

/** The same after a reconnect: partial items arrive again once complete. */
export function rejoined(isRunning: boolean): LiveActivity {
  return { ...nothingLive, joinedLate: isRunning };
}

/** Adds what is being said. */
export function foldLive(live: LiveActivity, event: LiveEvent | UnstoredEnd): LiveActivity {
  switch (event.type) {
    case 'finished':
      return { ...nothingLive, unstoredEnd: event.error?.message ?? event.status };
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
      // What a failed attempt had said does not count.
      const { retry: _, ...rest } = { ...live, blocks: [] };
      const left = leftMs === undefined ? {} : { leftMs };
      return { ...rest, retry: { attempt, delayMs, reason: error.message, ...left } };
    }
    case 'status': {
      const { state, message } = event;
      const { message: _, ...rest } = live;
      return { ...rest, state, ...defined({ message }) };
    }
    case 'progress':
      return { ...live, progress: { ...live.progress, [event.callId]: event.text } };
    default:
      return live;
  }
}

/** The state after a stored event: a response is shown from the log as soon as it is stored. */
export function settled({ unstoredEnd: _, ...live }: LiveActivity, type: string): LiveActivity {
  if (type === 'assistant' || type === 'ask_failed') {
    const { retry: __, ...rest } = live;
    return { ...rest, blocks: [], joinedLate: false };
  }
  return type === 'finished' ? nothingLive : live;
}

function grown(live: LiveActivity, index: number, kind: LiveBlock['kind'], text: string): LiveActivity {
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

function whole(live: LiveActivity, block: LiveBlock): LiveActivity {
  const others = live.blocks.filter(({ index }) => index !== block.index);
  return { ...live, blocks: inOrder([...others, block]), joinedLate: false };
}

function inOrder(blocks: readonly LiveBlock[]): LiveBlock[] {
  return blocks.toSorted((left, right) => left.index - right.index);
}
