import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { counted } from '../parts/format.ts';
import { changesIn } from '../session/changes.ts';
import type { SessionModel } from '../session/session-model.ts';
import { DiffCount, DiffView } from '../transcript/diff-view.tsx';

interface ChangesProps {
  readonly model: SessionModel;
  readonly show: (seq: number) => void;
}

/** All files that the session has changed, with every change. */
export function ChangesPanel({ model, show }: ChangesProps): VNode {
  const files = useMemo(() => changesIn(model.view.items), [model.version]);
  if (files.length === 0) return <p class="muted none">No files were changed.</p>;
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const removed = files.reduce((sum, file) => sum + file.removed, 0);
  return (
    <>
      <p class="panel-head">
        {counted(files.length, 'file')} changed <DiffCount added={added} removed={removed} />
      </p>
      {files.map(({ path, changes, added: plus, removed: minus }, index) => (
        <details key={path} class="file" open={files.length <= 5 || index === files.length - 1}>
          <summary>
            <span class="path">{path}</span> <DiffCount added={plus} removed={minus} />
          </summary>
          {changes.map(({ seq, diff }) => (
            <div key={seq}>
              <button type="button" class="quiet" onClick={() => show(seq)}>
                #{seq}
              </button>
              <DiffView file={diff} />
            </div>
          ))}
        </details>
      ))}
    </>
  );
}
