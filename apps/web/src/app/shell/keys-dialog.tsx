import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

const keys: readonly (readonly [string, string])[] = [
  ['Enter', 'send, or steer the run'],
  ['Shift Enter', 'a new line'],
  ['i', 'to the message'],
  ['Esc', 'leave a field, close a panel; twice stops the run'],
  ['y', 'allow the call once'],
  ['n', 'deny the call'],
  ['e', 'deny with a reason'],
  ['/', 'find in the conversation'],
  ['Ctrl K', 'search sessions'],
  ['c', 'a new session'],
  ['[  ]', 'previous or next session'],
  ['G', 'to the end'],
  ['p', 'changes, usage, events'],
  ['?', 'these keys'],
];

/** All keys of the page. */
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
