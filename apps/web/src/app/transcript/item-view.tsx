import type { AssistantPart } from '@cobbler/agent';
import type { ConversationItem, ResponseItem, UserItem } from '@cobbler/agent/events';
import { callStatus, ignore, searchNotes, visibleText } from '@cobbler/agent/events';
import type { FunctionComponent, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { Attachments, messageOf } from '../parts/attachments.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { duration, money, share, tokens } from '../parts/format.ts';
import { memoize } from '../parts/hooks.tsx';
import { subjectOf } from '../session/call-text.ts';
import { hasBranch } from './branch.tsx';
import { CallCard } from './call-card.tsx';
import type { NoteActions } from './note-view.tsx';
import { NoteView } from './note-view.tsx';
import { Prose } from './prose.tsx';

/** The actions of an item. */
export interface ItemActions extends NoteActions {
  readonly fork: (seq: number) => void;
  readonly link: (seq: number) => string;
  /** Lets the user change a message and send it in place of the original. */
  readonly edit: (item: UserItem) => void;
  readonly opened: Map<string, boolean>;
}

interface ItemProps {
  readonly item: ConversationItem;
  readonly actions: ItemActions;
  readonly progress: Readonly<Record<string, string>>;
  readonly isLast: boolean;
  readonly isTarget: boolean;
}

const classes = { user: 'said', response: 'answer', note: 'note' } as const;

/** One item of a conversation. */
export const ItemView: FunctionComponent<ItemProps> = memoize(
  ({ item, actions, progress, isLast, isTarget }: ItemProps) => (
    <article
      id={`e${item.seq}`}
      // A tap on a phone shows its actions.
      tabIndex={-1}
      class={`item ${classes[item.kind]}${isTarget ? ' target' : ''}`}
      aria-label={item.kind === 'user' ? 'You' : item.kind === 'response' ? 'Answer' : undefined}
    >
      {item.kind === 'user' && <UserMessageView item={item} />}
      {item.kind === 'response' && <AnswerView item={item} progress={progress} opened={actions.opened} />}
      {item.kind === 'note' && <NoteView item={item} isLast={isLast} actions={actions} />}
      {!(item.kind === 'note' && item.what.type === 'resumed') && <ItemBar item={item} actions={actions} />}
    </article>
  ),
);

/** The actions of an item, shown on hover. */
function ItemBar({ item, actions }: Pick<ItemProps, 'item' | 'actions'>): VNode {
  const text = textIn(item);
  return (
    <div class="item-bar">
      {item.kind === 'response' && <TurnWords item={item} />}
      <a
        class="quiet"
        href={actions.link(item.seq)}
        title={`Link to this entry · ${new Date(item.time).toLocaleString()}`}
      >
        #{item.seq}
      </a>
      {text !== '' && <CopyButton text={() => text} />}
      {item.kind === 'user' && !item.steer && (
        <button
          type="button"
          class="quiet"
          title="Change this message and continue from it, in a copy of this session"
          onClick={() => actions.edit(item)}
        >
          Edit
        </button>
      )}
      <button
        type="button"
        class="quiet"
        title="Copy this session up to here into a new session"
        onClick={() => actions.fork(item.seq)}
      >
        Fork
      </button>
    </div>
  );
}

function TurnWords({ item }: { readonly item: ResponseItem }): VNode | null {
  const { event } = item;
  if (event === undefined) return null;
  const { usage, usd, durationMs } = event;
  const cached = usage.cacheReadTokens ?? 0;
  const input = `${tokens(usage.inputTokens)} in${cached > 0 ? ` (${share(cached, usage.inputTokens)} cached)` : ''}`;
  const words = [
    `turn ${item.turn}`,
    input,
    `${tokens(usage.outputTokens)} out`,
    ...(usd === undefined ? [] : [money(usd)]),
    duration(durationMs),
  ];
  return <span class="turn-words">{words.join(' · ')}</span>;
}

/** Returns the text of an item, for copying and searching. */
export function textIn(item: ConversationItem): string {
  if (item.kind === 'note') return item.what.type === 'compacted' ? item.what.event.summary : '';
  const parts = item.kind === 'user' ? item.message.content : item.parts;
  return parts.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n\n');
}

/** Number of characters of a long prompt shown at first. */
const maxLength = 1_600;

function UserMessageView({ item }: { readonly item: UserItem }): VNode {
  const [all, set] = useState(false);
  const { text } = messageOf(item.message.content);
  const isLong = text.length > maxLength || text.split('\n').length > 24;
  const shown = isLong && !all ? `${text.split('\n').slice(0, 20).join('\n').slice(0, maxLength)} …` : text;
  return (
    <div class="bubble">
      {item.steer && <div class="muted small">↳ sent during the run</div>}
      {shown !== '' && <div class="words">{shown}</div>}
      <Attachments parts={item.message.content} />
      {isLong && (
        <button type="button" class="quiet" onClick={() => set(!all)}>
          {all ? 'Show less' : 'Show all'}
        </button>
      )}
    </div>
  );
}

interface AnswerProps {
  readonly item: ResponseItem;
  readonly progress: Readonly<Record<string, string>>;
  readonly opened: Map<string, boolean>;
}

function AnswerView({ item, progress, opened }: AnswerProps): VNode {
  let calls = 0;
  const draw = (part: AssistantPart, index: number) => {
    switch (part.type) {
      case 'text':
        return <Prose key={index} text={part.text} />;
      case 'reasoning':
        return part.text === '' ? null : <Reasoning key={index} text={part.text} />;
      case 'tool_call': {
        const call = item.calls[calls];
        calls += 1;
        return call && <CallCard key={index} call={call} opened={opened} />;
      }
      case 'opaque':
        return searchNotes([part]).lines.map((line) => (
          <p key={`${index} ${line}`} class="muted small">
            {line}
          </p>
        ));
      default:
        return ignore<never>(part) ?? null;
    }
  };
  return (
    <>
      {item.parts.map(draw)}
      <LiveOutput calls={item.calls} progress={progress} />
      <Sources parts={item.parts} />
      {item.parts.length === 0 && <p class="muted">The response is empty.</p>}
      {item.cutNote !== undefined && <p class="muted">The response ended before it was complete.</p>}
      {item.event?.stopReason === 'max_tokens' && (
        <p class="muted">The response was cut off: it reached its length limit.</p>
      )}
      {item.event?.stopReason === 'refusal' && <p class="muted">The model declined to continue.</p>}
    </>
  );
}

type OutputProps = Pick<ResponseItem, 'calls'> & Pick<AnswerProps, 'progress'>;

/** The last lines that running calls have printed, below all calls, so that none of them moves. */
function LiveOutput({ calls, progress }: OutputProps): VNode {
  const running = calls.filter((call) => callStatus(call) === 'running' && !hasBranch(call));
  return (
    <>
      {running.map((call) => {
        const text = progress[call.part.id];
        if (text === undefined) return null;
        const name = calls.length > 1 ? `${call.part.toolName} ${subjectOf(call)}` : '';
        return (
          <div key={call.index} class="progress">
            {name !== '' && <div class="muted">{visibleText(name, 'name')}</div>}
            <pre>{visibleText(text)}</pre>
          </div>
        );
      })}
    </>
  );
}

/** The web pages that a response cites. */
function Sources({ parts }: Pick<ResponseItem, 'parts'>): VNode | null {
  const { sources } = searchNotes(parts);
  if (sources.length === 0) return null;
  const links = sources.map(({ url, title }) => (
    <li key={url}>
      <a href={url} target="_blank" rel="noopener noreferrer" title={url}>
        {title || url}
      </a>
    </li>
  ));
  return <ol class="sources small">{links}</ol>;
}

/** The reasoning of the model: collapsed by default. */
export function Reasoning({
  text,
  isLive = false,
}: {
  readonly text: string;
  readonly isLive?: boolean;
}): VNode {
  const words = text.split(/\s+/).length;
  return (
    <details class="reasoning">
      <summary>
        {isLive ? 'thinking' : 'thought'} <span class="muted">· {words} words</span>
      </summary>
      <div class="thoughts">{text}</div>
    </details>
  );
}
