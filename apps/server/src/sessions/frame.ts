import type { AssistantPart, Event, RunEvent, UserPart } from '@cobbler/agent';
import { ignore } from '@cobbler/agent/events';

/** A comment that shows that the connection is alive. */
export const heartbeat: Buffer = Buffer.from(': heartbeat\n\n');

/** Returns a frame of the versioned stream: the event as it is stored, with its sequence number as the id. */
export function storedFrame(event: Event): Buffer {
  return Buffer.from(`id: ${event.seq}\ndata: ${JSON.stringify(event)}\n\n`);
}

/** Returns a frame that is not stored. It has no id, because a client cannot resume from it. */
export function liveFrame(data: unknown): Buffer {
  return Buffer.from(liveText(data));
}

/** Returns the same frame as a string. */
export function liveText(data: unknown): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/** One frame of the plain stream. Times are Unix seconds. */
type PlainData = Readonly<Record<string, unknown>> & { readonly type: string };

/**
 * Converts an event of the log to frames of `GET /events` with ids `seq.index`. The content of a response follows
 * once it is committed, so that nothing is ever withdrawn.
 *
 * @param from skips the frames before this index.
 */
export function plainFrames(event: Event, from = 0): Buffer[] {
  const timestamp = Math.floor(Date.parse(event.time) / 1000);
  return plainData(event)
    .map((data, index) =>
      Buffer.from(`id: ${event.seq}.${index}\ndata: ${JSON.stringify({ ...data, timestamp })}\n\n`),
    )
    .slice(from);
}

/** Returns the status frame of the stream of the session `default` if the event changes the status. */
export function plainStatus(event: RunEvent): Buffer | undefined {
  if (event.type === 'status') return statusFrame(event.state, event.message);
  if (event.type !== 'finished') return undefined;
  if (event.status === 'failed') return statusFrame('error', event.error?.message);
  return statusFrame(event.status === 'waiting' ? 'waiting' : 'idle');
}

/** Returns a frame with the status. */
export function statusFrame(state: string, message = ''): Buffer {
  return liveFrame({ type: 'status', state, message });
}

function plainData(event: Event): PlainData[] {
  switch (event.type) {
    case 'user':
      return [{ type: 'user', content: textIn(event.content) }];
    case 'assistant':
      return event.content.flatMap(partData);
    case 'ask_failed':
      return (event.partial ?? []).flatMap(partData);
    case 'tool_result': {
      const { callId: id, content, isError } = event;
      return [{ type: 'tool_result', id, result: textIn(content), isError }];
    }
    default:
      return ignore<'input' | 'call' | 'note' | 'end'>(event) ?? [];
  }
}

function partData(part: AssistantPart): PlainData[] {
  if (part.type === 'tool_call') {
    return [{ type: 'tool_call', id: part.id, name: part.toolName, input: part.arguments }];
  }
  if (part.type === 'opaque' || part.text === '') return [];
  return [{ type: part.type, content: part.text }];
}

/** Returns the text of a message, joined without a separator. */
export function textIn(content: readonly UserPart[]): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
