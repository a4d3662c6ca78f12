import type { Event } from '@cobbler/agent';
import { ignore, visibleText } from '@cobbler/agent/events';
import type { VNode } from 'preact';
import { useChanged } from './hooks.tsx';
import { Observable } from './observable.ts';

/** Maximum number of announcements; older ones have already been read out. */
const maxLines = 4;

/** Announcements for screen readers: complete items only, never streamed text. */
export class Announcer extends Observable {
  /** The last announcements; several at the same time are read one after another. */
  lines: readonly { readonly seq: number; readonly text: string }[] = [];

  /** Announces an event if it is worth an interruption. */
  handle(event: Event): void {
    const text = wordsFor(event);
    if (text === '') return;
    this.lines = [...this.lines, { seq: event.seq, text }].slice(-maxLines);
    this.notify();
  }
}

/** Returns the announcement of an event; an empty string for most events. */
export function wordsFor(event: Event): string {
  switch (event.type) {
    case 'assistant': {
      const text = event.content.flatMap((part) => (part.type === 'text' ? part.text : [])).join(' ');
      return text === '' ? '' : `Response: ${text.slice(0, 500)}`;
    }
    case 'tool_result':
      return visibleText(`${event.toolName} ${event.summary ?? (event.isError ? 'failed' : 'done')}`);
    case 'approval_requested':
      return visibleText(`Approval needed: ${event.toolName} ${event.summary ?? ''}`);
    case 'approval_decided':
      return `Approval: ${event.decision}`;
    case 'finished':
      return event.status === 'waiting' ? '' : `Run ${event.status}`;
    default:
      return ignore<'input' | 'response' | 'call' | 'note'>(event) ?? '';
  }
}

/** The live region for screen readers. */
export function LiveRegion({ announcer }: { readonly announcer: Announcer }): VNode {
  useChanged(announcer);
  return (
    <div class="unseen" aria-live="polite" role="status">
      {announcer.lines.map(({ seq, text }) => (
        <p key={seq}>{text}</p>
      ))}
    </div>
  );
}
