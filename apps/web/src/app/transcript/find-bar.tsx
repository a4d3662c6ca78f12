import type { ConversationItem } from '@cobbler/agent/events';
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useFocusReturn } from '../parts/hooks.tsx';
import { Icon } from '../parts/icons.tsx';
import { resultText, subjectOf } from '../session/call-text.ts';
import { textIn } from './item-view.tsx';

interface FindProps {
  readonly items: readonly ConversationItem[];
  readonly show: (seq: number | undefined) => void;
  readonly end: () => void;
}

/** A search in a conversation, including items that are not rendered. */
export function FindBar({ items, show, end }: FindProps): VNode {
  const [words, setWords] = useState('');
  const [at, setAt] = useState(0);
  const field = useRef<HTMLInputElement>(null);
  const bar = useFocusReturn<HTMLElement>('.head .find');
  const found = useMemo(() => itemsWith(items, words), [items, items.length, words]);
  // Searches the newest first.
  const place =
    found.length === 0 ? -1 : (((found.length - 1 - at) % found.length) + found.length) % found.length;
  const item = found[place];
  // Focus before the next key press.
  useLayoutEffect(() => field.current?.focus(), []);
  useEffect(() => {
    show(item?.seq);
    const timers = [80, 300].map((ms) => setTimeout(() => paint(item, words), ms));
    return () => timers.forEach(clearTimeout);
  }, [item?.seq, words]);
  useEffect(() => () => paint(undefined, ''), []);
  return (
    <search class="find-bar" ref={bar}>
      <input
        ref={field}
        type="search"
        placeholder="Find in this conversation"
        aria-label="Find in this conversation"
        value={words}
        onInput={(event) => {
          setWords(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') end();
          if (event.key === 'Enter') setAt(at + (event.shiftKey ? -1 : 1));
        }}
      />
      <output class="muted small">
        {words === '' ? '' : found.length === 0 ? 'no matches' : `match ${place + 1} of ${found.length}`}
      </output>
      <button type="button" class="quiet" aria-label="Earlier" onClick={() => setAt(at + 1)}>
        <Icon name="up" />
      </button>
      <button type="button" class="quiet" aria-label="Later" onClick={() => setAt(at - 1)}>
        <Icon name="down" />
      </button>
      <button type="button" class="quiet" aria-label="Close" onClick={end}>
        <Icon name="close" />
      </button>
    </search>
  );
}

/** Returns the items that contain these words, in order, regardless of case. */
export function itemsWith(items: readonly ConversationItem[], words: string): ConversationItem[] {
  const wanted = words.trim().toLowerCase();
  if (wanted === '') return [];
  return items.filter((item) => allTextIn(item).toLowerCase().includes(wanted));
}

function allTextIn(item: ConversationItem): string {
  const calls = item.kind === 'response' ? item.calls : [];
  const texts = calls.flatMap((call) => [call.part.toolName, subjectOf(call), resultText(call)]);
  return [textIn(item), ...texts].join('\n');
}

/** Highlights the words without changing the document. */
function paint(item: ConversationItem | undefined, words: string): void {
  if (!('highlights' in CSS)) return;
  CSS.highlights.delete('found');
  const place = item && document.getElementById(`e${item.seq}`);
  const wanted = words.trim().toLowerCase();
  if (!place || wanted === '') return;
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null && ranges.length < 200; node = walker.nextNode()) {
    const text = node.textContent?.toLowerCase() ?? '';
    for (let from = text.indexOf(wanted); from !== -1; from = text.indexOf(wanted, from + wanted.length)) {
      const range = new Range();
      range.setStart(node, from);
      range.setEnd(node, from + wanted.length);
      ranges.push(range);
    }
  }
  CSS.highlights.set('found', new Highlight(...ranges));
}
