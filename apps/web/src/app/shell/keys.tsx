import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { isField } from '../transcript/approval-card.tsx';
import type { AppState } from './app-state.ts';

/** Esc twice within this time stops the run, in milliseconds. */
const twiceMs = 1_000;

/** Handles the keys that work anywhere in the page. */
export function usePageKeys(app: AppState, { showKeys }: { readonly showKeys: () => void }): void {
  useEffect(() => {
    let escapedAt = Number.NEGATIVE_INFINITY;
    const acts: Readonly<Record<string, () => void>> = {
      '?': showKeys,
      '/': () => app.model !== undefined && app.find(true),
      i: () => document.getElementById('message')?.focus(),
      c: () => app.go({}),
      $: () => app.go({ isCosts: true }),
      p: () => app.setPanel(app.panel === undefined ? 'changes' : undefined),
      '[': () => step(app, -1),
      ']': () => step(app, 1),
      G: () => document.querySelector<HTMLElement>('.to-end')?.click(),
    };
    const onKeyDown = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key === 'k') {
        event.preventDefault();
        return document.getElementById('session-search')?.focus();
      }
      if (event.key === 'Escape') {
        const isTwice = performance.now() - escapedAt < twiceMs;
        escapedAt = performance.now();
        return leave(app, isTwice);
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target)) return;
      const act = Object.hasOwn(acts, event.key) ? acts[event.key] : undefined;
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [app]);
}

function leave(app: AppState, isTwice: boolean): void {
  if (document.querySelector('dialog[open]') !== null) return;
  const stop = isTwice ? document.querySelector<HTMLElement>('button.stop') : null;
  if (stop !== null) stop.click();
  else if (isField(document.activeElement)) (document.activeElement as HTMLElement).blur();
  else if (app.isFinding) app.find(false);
  else if (app.panel !== undefined) app.setPanel(undefined);
}

function step(app: AppState, by: number): void {
  const { items } = app.list;
  const at = items.findIndex(({ id }) => id === app.place.sessionId);
  const next = items[at + by];
  if (next !== undefined) app.go({ sessionId: next.id });
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
  ['Ctrl K', 'search sessions and pages'],
  ['c', 'start a new session'],
  ['$', 'show the costs of all sessions'],
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
