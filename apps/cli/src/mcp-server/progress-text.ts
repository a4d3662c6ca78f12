import type { RunEvent } from '@cobbler/agent';
import { oneLine } from '../terminal/escape.ts';

const maxCharacters = 200;

/** An event as one line for a waiting client; undefined for most events. */
export function progressWords(event: RunEvent): string | undefined {
  switch (event.type) {
    case 'tool_started':
      return clipped(event.toolName);
    case 'tool_result':
      return clipped(`${event.toolName}: ${event.summary ?? (event.isError ? 'failed' : 'done')}`);
    case 'progress':
      return clipped(`${event.toolName}: ${event.text}`);
    case 'approval_requested':
      return clipped(`waits for approval: ${event.toolName} ${event.subject ?? ''}`);
    case 'text':
      return event.text.trim() === '' ? undefined : clipped(event.text);
    default:
      return undefined;
  }
}

function clipped(text: string): string {
  const line = oneLine(text);
  return line.length > maxCharacters ? `${line.slice(0, maxCharacters)}…` : line;
}
