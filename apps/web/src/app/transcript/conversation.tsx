import type { ConversationItem, LiveBlock, LiveResponse, PendingRetry } from '@cobbler/agent/events';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Attachments } from '../parts/attachments.tsx';
import { duration } from '../parts/format.ts';
import { useNow } from '../parts/hooks.tsx';
import type { OutgoingMessage, SessionModel } from '../session/session-model.ts';
import { Ticking } from './call-card.tsx';
import { FindBar } from './find-bar.tsx';
import type { ItemActions } from './item-view.tsx';
import { ItemView, Reasoning } from './item-view.tsx';
import { GrowingProse } from './prose.tsx';
import { WindowList } from './window-list.tsx';

interface ConversationProps {
  readonly model: SessionModel;
  readonly actions: ItemActions;
  /** An event to show. */
  readonly target: number | undefined;
  readonly isFinding: boolean;
  readonly endFinding: () => void;
}

/** Approximate height of an item, in pixels. */
const height = 110;

/** The conversation: stored items, messages being sent, and the current response. */
export function Conversation({ model, actions, target, isFinding, endFinding }: ConversationProps): VNode {
  const { view, live, outgoing } = model;
  const [found, setFound] = useState<number>();
  const wanted = found ?? target;
  const item = wanted === undefined ? undefined : itemAt(view.items, wanted);
  useGoingTo(item, model.isLoaded);
  const last = view.items.at(-1);
  const mark = useMemo(() => ({}), [live.progress, last, item]);
  return (
    <>
      {isFinding && (
        <FindBar
          items={view.items}
          show={setFound}
          end={() => {
            setFound(undefined);
            endFinding();
          }}
        />
      )}
      <Scroller count={view.items.length} isLoaded={model.isLoaded} mark={model.version} name={model.id}>
        <WindowList
          things={view.items}
          height={height}
          mark={mark}
          wanted={item && keyOf(item)}
          keyOf={keyOf}
          draw={(thing, at) => (
            <ItemView
              key={at}
              item={thing}
              actions={actions}
              progress={live.progress}
              isLast={thing === last}
              isTarget={thing === item}
            />
          )}
        />
        {model.isInterrupted && (
          <p class="doing warn">
            {live.unstoredEnd === undefined
              ? 'This run was cut off and has not been continued.'
              : `This run ended, but its end could not be recorded: ${live.unstoredEnd}`}{' '}
            <button type="button" onClick={actions.resume}>
              Continue from here
            </button>
          </p>
        )}
        {view.runStartedAt !== undefined && model.isRunning && model.pending.length === 0 && (
          // With a new key for each response, no element moves from above a stored item to below it.
          <LiveView key={view.items.length} live={live} since={view.runStartedAt} />
        )}
        {view.queued.map(({ seq, message }) => (
          <p key={seq} class="queued">
            ↳ waiting for the next turn: {wordsIn(message.content)}
          </p>
        ))}
        {outgoing !== undefined && <OutgoingView outgoing={outgoing} />}
      </Scroller>
    </>
  );
}

function keyOf(item: ConversationItem): string {
  return `${item.kind}${item.seq}`;
}

/** Returns the item that an event belongs to. */
export function itemAt(items: readonly ConversationItem[], seq: number): ConversationItem | undefined {
  return items.findLast((item) => item.seq <= seq) ?? items[0];
}

/** Scrolls to an item, and again when the items around it have been rendered. */
function useGoingTo(item: ConversationItem | undefined, isLoaded: boolean): void {
  useEffect(() => {
    if (item === undefined || !isLoaded) return;
    const go = () => document.getElementById(`e${item.seq}`)?.scrollIntoView({ block: 'center' });
    go();
    const timers = [60, 250].map((ms) => setTimeout(go, ms));
    return () => timers.forEach(clearTimeout);
  }, [item?.seq, item?.kind, isLoaded]);
}

function wordsIn(content: OutgoingMessage['content']): string {
  return content.map((part) => (part.type === 'text' ? part.text : '[attached]')).join(' ');
}

function OutgoingView({ outgoing }: { readonly outgoing: OutgoingMessage }): VNode {
  return (
    <article class="item said" aria-label="You">
      <div class="bubble pending">
        <div class="words">{wordsIn(outgoing.content.filter(({ type }) => type === 'text'))}</div>
        <Attachments parts={outgoing.content} />
        <div class="muted small">sending…</div>
      </div>
    </article>
  );
}

interface ScrollerProps {
  /** Number of items, for counting those added since the user scrolled away. */
  readonly count: number;
  /** False until all stored items are there. */
  readonly isLoaded: boolean;
  /** Changes whenever there may be new content. */
  readonly mark: unknown;
  /** The name of the conversation; another one starts at its end. */
  readonly name: string;
  readonly children: ComponentChildren;
}

/** Maximum distance from the end that counts as being there, in pixels. */
const near = 48;

/** A scroll container that follows the end while the user is there. */
function Scroller({ count, isLoaded, mark, name, children }: ScrollerProps): VNode {
  const ref = useRef<HTMLElement>(null);
  const isAtEnd = useRef(true);
  const seen = useRef(count);
  const wasLoaded = useRef(isLoaded);
  const [isAway, setAway] = useState(false);
  const toEnd = () => {
    const element = ref.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
  };
  const follow = () => {
    if (isAtEnd.current) toEnd();
  };
  useLayoutEffect(() => {
    isAtEnd.current = !/^#e\d/.test(location.hash);
    setAway(!isAtEnd.current);
    follow();
  }, [name]);
  useLayoutEffect(() => {
    follow();
    // Without this, a conversation that fits would offer to scroll to its end.
    if (isLoaded) onScroll();
  }, [mark]);
  useEffect(() => {
    const observer = new ResizeObserver(() => {
      follow();
      if (wasLoaded.current) look();
    });
    for (const element of [ref.current, ref.current?.firstElementChild])
      if (element) observer.observe(element);
    // Keeps the view where it is when the user opens something at the end.
    const onOpening = ({ target }: Event) => {
      if (target instanceof Element && target.closest('summary, [aria-expanded]') !== null)
        isAtEnd.current = false;
    };
    ref.current?.addEventListener('click', onOpening, { capture: true });
    return () => observer.disconnect();
  }, []);
  if (isAtEnd.current || !wasLoaded.current) seen.current = count;
  wasLoaded.current = isLoaded;
  const look = () => {
    const element = ref.current;
    if (element === null) return;
    isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < near;
    setAway(!isAtEnd.current);
  };
  const onScroll = () => {
    look();
    if (isAtEnd.current) seen.current = count;
  };
  const fresh = Math.max(0, count - seen.current);
  return (
    <div class="scroll-room">
      {/** biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll container must be reachable by keyboard. */}
      <section class="scroller" ref={ref} onScroll={onScroll} tabIndex={0} aria-label="Conversation">
        <div class="column">{children}</div>
      </section>
      {isAway && (
        <button
          type="button"
          class="to-end"
          onClick={() => {
            isAtEnd.current = true;
            setAway(false);
            toEnd();
          }}
        >
          ↓ {fresh > 0 ? `${fresh} new` : 'to the end'}
        </button>
      )}
    </div>
  );
}

interface LiveProps {
  readonly live: LiveResponse;
  /** Start of the run in ISO 8601. */
  readonly since: string;
}

/** The current response. It becomes an item once it is stored. */
function LiveView({ live, since }: LiveProps): VNode {
  const isSilent = live.blocks.every(({ kind }) => kind === 'call');
  // Each running call shows this itself.
  const isShown = live.state === 'running_tool';
  return (
    <article class="item answer live" aria-label="Response in progress" aria-busy="true">
      {live.blocks.map((block) => (
        <BlockView key={block.index} block={block} />
      ))}
      {((isSilent && !isShown) || live.retry !== undefined) && <CurrentActivity live={live} since={since} />}
    </article>
  );
}

function BlockView({ block }: { readonly block: LiveBlock }): VNode | null {
  const text = block.cut ? `… ${block.text}` : block.text;
  if (block.kind === 'text') return <GrowingProse text={text} />;
  if (block.kind === 'reasoning') return <Reasoning text={text} isLive={!block.done} />;
  return (
    <div class="call proposed">
      <div class="call-line">
        <span class="mark">·</span>
        <span class="tool">{block.text === '' ? 'a tool' : block.text}</span>
        <span class="subject muted">{block.done ? '' : 'in progress'}</span>
      </div>
    </div>
  );
}

function CurrentActivity({ live, since }: LiveProps): VNode {
  const { retry, state, message } = live;
  if (retry !== undefined) return <Retrying key={retry.attempt} {...retry} />;
  const word =
    message ?? (state === 'running_tool' ? 'running' : state === 'waiting' ? 'waiting' : 'thinking');
  return (
    <p class="doing">
      <span class="spinner" aria-hidden="true" /> {word} <Ticking since={Date.parse(since)} />
    </p>
  );
}

/** A countdown to the next attempt, from the time when it was first shown. */
function Retrying({ attempt, reason, delayMs, leftMs }: PendingRetry): VNode {
  const now = useNow(1_000);
  const [since] = useState(now);
  const waitMs = secondsLeft(since + delayMs - now);
  return (
    <p class="doing warn">
      <span class="spinner" aria-hidden="true" /> {reason} · attempt {attempt} failed, retry in{' '}
      {duration(waitMs)}
      {leftMs !== undefined && `, gives up in ${duration(secondsLeft(since + delayMs + leftMs - now))}`}
    </p>
  );
}

function secondsLeft(ms: number): number {
  return Math.max(0, Math.ceil(ms / 1_000)) * 1_000;
}
