import { visibleText } from '@cobbler/agent/events';
import type { VNode } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { focusMessage } from '../composer/composer.tsx';
import { messageOf } from '../parts/attachments.tsx';
import { changesIn } from '../session/changes.ts';
import { DiffCount } from '../transcript/diff-view.tsx';
import type { AppState, WantedUndo } from './app-state.ts';

/** Says what an undo or a redo will change, before it happens. */
export function UndoDialog({ app, wanted }: { readonly app: AppState; readonly wanted: WantedUndo }): VNode {
  const ref = useRef<HTMLDialogElement>(null);
  const { kind, step } = wanted;
  const items = app.model?.view.items ?? [];
  const { seq = Infinity } = step;
  const message = items.find((item) => item.kind === 'user' && item.seq === seq);
  const changes = useMemo(() => changesIn(items.filter((item) => item.seq >= seq)), [step]);
  useEffect(() => ref.current?.showModal(), []);
  const perform = () => void app.performUndo().then(focusMessage, () => undefined);
  return (
    <dialog ref={ref} class="keys undo" aria-labelledby="undo-title" onClose={() => app.endUndo()}>
      <h2 id="undo-title">{kind === 'undo' ? 'Undo the last message?' : 'Take the undo back?'}</h2>
      {message?.kind === 'user' && <blockquote>{messageOf(message.message.content).text}</blockquote>}
      {step.files.length === 0 ? <p>No file will change.</p> : <p>These files will change:</p>}
      <ul>
        {step.files.map(({ path, change, isChanged }) => {
          const known = changes.find((one) => one.path === path);
          return (
            <li key={path}>
              <span class="path">{visibleText(path, 'name')}</span>{' '}
              <span class="muted">{change === 'delete' ? 'will be deleted' : 'will be restored'}</span>{' '}
              {known && change === 'restore' && <DiffCount added={known.removed} removed={known.added} />}
              {isChanged && (
                <p class="warn small">Another program has changed it since. That change will be lost too.</p>
              )}
            </li>
          );
        })}
      </ul>
      <p class="muted small">
        {kind === 'undo'
          ? 'The conversation continues in a copy that ends before this message. What commands have done is not undone.'
          : 'The conversation continues in the session before the undo.'}
      </p>
      <form method="dialog">
        <button type="submit">Cancel</button>
        <button type="button" class="primary" onClick={perform}>
          {kind === 'undo' ? 'Undo' : 'Redo'}
        </button>
      </form>
    </dialog>
  );
}
