import type { Event } from '@cobbler/agent';
import { ignore, visibleText } from '@cobbler/agent/events';
import type { FunctionComponent, VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { CopyButton } from '../parts/copy-button.tsx';
import { counted } from '../parts/format.ts';
import { memoize, scrollArea } from '../parts/hooks.tsx';
import type { SessionModel } from '../session/session-model.ts';
import { WindowList } from '../transcript/window-list.tsx';

interface EventsProps {
  readonly model: SessionModel;
  readonly show: (seq: number) => void;
  readonly fork: (seq: number) => void;
}

/** A list of all events of the log. */
export function EventsPanel({ model, show, fork }: EventsProps): VNode {
  const [words, setWords] = useState('');
  const { events } = model;
  const shown = useMemo(() => eventsWith(events, words), [model.version, words]);
  const [opened] = useState(() => new Set<number>());
  return (
    <div class="events">
      <div class="panel-head">
        <input
          type="search"
          placeholder="Filter by type, text or #number"
          aria-label="Filter events"
          value={words}
          onInput={(event) => setWords(event.currentTarget.value)}
        />
        <span class="muted small">
          {shown.length === events.length
            ? counted(events.length, 'event')
            : `${shown.length} of ${events.length}`}
        </span>
        <CopyButton
          label="Copy JSONL"
          text={() => `${shown.map((event) => JSON.stringify(event)).join('\n')}\n`}
        />
      </div>
      <div class="scroller event-list">
        <WindowList
          things={shown}
          height={28}
          keyOf={({ seq }) => String(seq)}
          draw={(event) => <EventRow key={event.seq} event={event} opened={opened} show={show} fork={fork} />}
        />
      </div>
    </div>
  );
}

/** Returns the events that match the filter. */
export function eventsWith(events: readonly Event[], words: string): readonly Event[] {
  const wanted = words.trim().toLowerCase();
  if (wanted === '') return [...events];
  const seq = /^#(\d+)$/.exec(wanted)?.[1];
  if (seq !== undefined) return events.filter((event) => event.seq === Number(seq));
  return events.filter((event) => JSON.stringify(event).toLowerCase().includes(wanted));
}

interface EventRowProps {
  readonly event: Event;
  readonly opened: Set<number>;
  readonly show: (seq: number) => void;
  readonly fork: (seq: number) => void;
}

const EventRow: FunctionComponent<EventRowProps> = memoize(({ event, opened, show, fork }: EventRowProps) => {
  const [isOpen, set] = useState(opened.has(event.seq));
  const toggle = () => {
    if (isOpen) opened.delete(event.seq);
    else opened.add(event.seq);
    set(!isOpen);
  };
  return (
    <div class="event">
      <button type="button" class="event-line" aria-expanded={isOpen} onClick={toggle}>
        <span class="seq">{event.seq}</span>
        <span class={`type ${event.type}`}>{event.type}</span>
        <span class="about">{aboutOf(event)}</span>
        <span class="time">{event.time.slice(11, 23)}</span>
      </button>
      {isOpen && (
        <div class="event-body">
          <div class="event-bar">
            <button type="button" class="quiet" onClick={() => show(event.seq)}>
              Show in the conversation
            </button>
            <button type="button" class="quiet" onClick={() => fork(event.seq)}>
              Fork from here
            </button>
            <CopyButton text={() => JSON.stringify(event, null, 2)} />
          </div>
          <pre {...scrollArea('Event')}>{JSON.stringify(event, null, 2).slice(0, 200_000)}</pre>
        </div>
      )}
    </div>
  );
});

/** Returns a short description of an event. */
function aboutOf(event: Event): string {
  switch (event.type) {
    case 'user':
    case 'assistant':
      return event.content
        .map((part) => (part.type === 'text' ? part.text.slice(0, 80) : part.type))
        .join(' ');
    case 'tool_started':
    case 'approval_requested':
      return visibleText(event.toolName);
    case 'tool_result':
      return visibleText(`${event.toolName} ${event.summary ?? (event.isError ? 'failed' : '')}`);
    case 'approval_decided':
      return event.decision;
    case 'finished':
      return event.status;
    case 'step':
      return visibleText(`${event.called ?? ''} ${event.text.slice(0, 80)}`);
    case 'ask_failed':
      return event.error.message;
    case 'stop_requested':
      return event.reason;
    default:
      return ignore<'input' | 'note'>(event) ?? '';
  }
}
