import type { LiveEvent } from '../events/event.ts';

/** A block of text: a part of it, or all of it. */
type TextEvent = Extract<LiveEvent, { type: 'text_delta' | 'reasoning_delta' | 'text' | 'reasoning' }>;

const missed = {
  kind: 'network',
  code: 'missed',
  message: 'The model restarted the response from the beginning while the connection was down.',
} as const;

/** Returns the events after an earlier part of a response: its rest, or all of it if the request was retried since. */
export function catchUp(shown: readonly LiveEvent[], now: readonly LiveEvent[]): LiveEvent[] {
  const [before, after] = [blocksOf(shown), blocksOf(now)];
  if (before.length === 0) return [...now];
  if (!before.every((block, place) => continues(block, after[place]))) {
    return [{ type: 'retry', attempt: 1, error: missed, delayMs: 0 }, ...after];
  }
  return after.flatMap((block, place) => restOf(before[place], block));
}

function blocksOf(events: readonly LiveEvent[]): LiveEvent[] {
  return events.filter(({ type }) => type !== 'status');
}

/** Returns whether a block is the same as before, possibly with more text. */
function continues(before: LiveEvent, after: LiveEvent | undefined): boolean {
  if (after === undefined) return false;
  if (!isOpen(before)) return JSON.stringify(before) === JSON.stringify(after);
  return isText(after) && kindOf(after) === kindOf(before) && after.text.startsWith(before.text);
}

function restOf(before: LiveEvent | undefined, after: LiveEvent): LiveEvent[] {
  if (before === undefined) return [after];
  if (!isOpen(before) || !isText(after)) return [];
  if (!isOpen(after)) return [after];
  const text = after.text.slice(before.text.length);
  return text === '' ? [] : [{ ...after, text }];
}

function isText(event: LiveEvent): event is TextEvent {
  return 'text' in event && 'index' in event;
}

function isOpen(event: LiveEvent): event is TextEvent {
  return isText(event) && event.type.endsWith('_delta');
}

function kindOf({ type, index }: TextEvent): string {
  return `${type.replace('_delta', '')} ${index}`;
}
