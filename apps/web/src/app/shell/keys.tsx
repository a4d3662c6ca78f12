import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { isField } from '../transcript/approval-card.tsx';
import type { AppState } from './session-service.ts';

interface KeyHelp {
  readonly showKeys: () => void;
}

/** Esc twice within this time stops the run, in milliseconds. */
const twiceMs = 1_000;

/** Handles the keys that work anywhere in the page. */
export function usePageKeys(desk: AppState, { showKeys }: KeyHelp): void {
  useEffect(() => {
    let escapedAt = Number.NEGATIVE_INFINITY;
    const acts: Readonly<Record<string, () => void>> = {
      '?': showKeys,
      '/': () => desk.model !== undefined && desk.find(true),
      i: () => document.getElementById('message')?.focus(),
      c: () => desk.go({}),
      p: () => desk.setPanel(desk.panel === undefined ? 'changes' : undefined),
      '[': () => step(desk, -1),
      ']': () => step(desk, 1),
      G: () => document.querySelector<HTMLElement>('.to-end')?.click(),
    };
    const hear = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key === 'k') {
        event.preventDefault();
        return document.getElementById('session-search')?.focus();
      }
      if (event.key === 'Escape') {
        const isTwice = performance.now() - escapedAt < twiceMs;
        escapedAt = performance.now();
        return leave(desk, isTwice);
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target)) return;
      const act = Object.hasOwn(acts, event.key) ? acts[event.key] : undefined;
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', hear);
    return () => document.removeEventListener('keydown', hear);
  }, [desk]);
}

function leave(desk: AppState, isTwice: boolean): void {
  if (document.querySelector('dialog[open]') !== null) return;
  const stop = isTwice ? document.querySelector<HTMLElement>('button.stop') : null;
  if (stop !== null) stop.click();
  else if (isField(document.activeElement)) (document.activeElement as HTMLElement).blur();
  else if (desk.isFinding) desk.find(false);
  else if (desk.panel !== undefined) desk.setPanel(undefined);
}

function step(desk: AppState, by: number): void {
  const { items } = desk.list;
  const at = items.findIndex(({ id }) => id === desk.place.sessionId);
  const next = items[at + by];
  if (next !== undefined) desk.go({ sessionId: next.id });
}

const keys: readonly (readonly [string, string])[] = [
  ['Enter', 'send, or steer the run'],
  ['Shift Enter', 'start a new line'],
  ['i', 'go to the message field'],
  ['Esc', 'leave a field or close a panel; press twice to stop the run'],
  ['y', 'allow the call once'],
  ['n', 'deny the call'],
  ['e', 'deny with a reason'],
  ['/', 'find in the conversation'],
  ['Ctrl K', 'search sessions'],
  ['c', 'start a new session'],
  ['[  ]', 'go to the previous or next session'],
  ['G', 'scroll to the end'],
  ['p', 'show changes, usage, events'],
  ['?', 'show these keys'],
];

/** A list of all keys of the page. */
export function KeysDialog({
  isOpen,
  close,
}: {
  readonly isOpen: boolean;
  readonly close: () => void;
}): VNode {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isOpen && ref.current?.open === false) ref.current.showModal();
    if (!isOpen) ref.current?.close();
  }, [isOpen]);
  return (
    <dialog ref={ref} class="keys" aria-label="Keys" onClose={close}>
      <h2>Keys</h2>
      <dl>
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              {key.split(/ +/).map((part) => (
                <kbd key={part}>{part}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
