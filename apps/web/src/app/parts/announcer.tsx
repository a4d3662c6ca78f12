import type { Event } from '@cobbler/agent';
import type { VNode } from 'preact';
import { Changed } from './changed.ts';
import { useChanged } from './still.tsx';

/** More than this is not kept: it was heard. */
const most = 4;

/** What is told to those who do not see the page: whole things only, never text in pieces. */
export class Announcer extends Changed {
  /** What was told last: what comes in one go is told one after another. */
  lines: readonly { readonly seq: number; readonly text: string }[] = [];

  /** Tells what an event means, if it is worth an interruption. */
  hear(event: Event): void {
    const text = wordsFor(event);
    if (text === '') return;
    this.lines = [...this.lines, { seq: event.seq, text }].slice(-most);
    this.changed();
  }
}

/** What an event is to somebody who listens; nothing for most. */
export function wordsFor(event: Event): string {
  switch (event.type) {
    case 'assistant': {
      const text = event.content.flatMap((part) => (part.type === 'text' ? part.text : [])).join(' ');
      return text === '' ? '' : `Response: ${text.slice(0, 500)}`;
    }
    case 'tool_result':
      return `${event.toolName} ${event.summary ?? (event.isError ? 'failed' : 'done')}`;
    case 'approval_requested':
      return `Approval needed: ${event.toolName} ${event.summary ?? ''}`;
    case 'approval_decided':
      return `Approval: ${event.decision}`;
    case 'finished':
      return event.status === 'waiting' ? '' : `Run ${event.status}`;
    default:
      return '';
  }
}

/** Where a screen reader hears it. */
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
