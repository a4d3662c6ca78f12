import type { VNode } from 'preact';
import { useMemo } from 'preact/hooks';
import { counted } from '../parts/format.ts';
import { useFocusReturn } from '../parts/hooks.tsx';
import { Icon } from '../parts/icons.tsx';
import { changesIn } from '../session/changes.ts';
import type { Commands } from '../session/commands.ts';
import type { SessionModel } from '../session/session-model.ts';
import { DiffCount, DiffView } from '../transcript/diff-view.tsx';
import { CommandsPanel } from './commands-panel.tsx';
import { EventsPanel } from './events-panel.tsx';
import { UsagePanel } from './usage-panel.tsx';

/** The views of the panel. */
export type PanelName = 'changes' | 'usage' | 'events' | 'commands';

interface PanelProps {
  readonly model: SessionModel;
  readonly name: PanelName;
  readonly setPanel: (name: PanelName | undefined) => void;
  readonly show: (seq: number) => void;
  readonly fork: (seq: number) => void;
  /** Absent if the server has no commands in the background. */
  readonly commands?: Commands | undefined;
  readonly stopCommand: (id: string) => Promise<void>;
}

/** The other views of a session, next to the conversation. */
export function Panel({ model, name, setPanel, show, fork, commands, stopCommand }: PanelProps): VNode {
  const panels = ['changes', 'usage', 'events', ...(commands ? (['commands'] as const) : [])] as const;
  const panel = useFocusReturn<HTMLElement>('.panel-toggle');
  return (
    <aside class="panel" aria-label="Details" ref={panel}>
      <div class="tabs">
        <div role="tablist">
          {panels.map((one) => (
            <button
              key={one}
              type="button"
              role="tab"
              id={`tab-${one}`}
              aria-selected={one === name}
              aria-controls="panel-body"
              onClick={() => setPanel(one)}
            >
              {one}
            </button>
          ))}
        </div>
        <button type="button" class="quiet close" aria-label="Close" onClick={() => setPanel(undefined)}>
          <Icon name="close" />
        </button>
      </div>
      <div class="panel-body" id="panel-body" role="tabpanel" aria-labelledby={`tab-${name}`}>
        {name === 'changes' && <ChangesPanel model={model} show={show} />}
        {name === 'usage' && <UsagePanel model={model} show={show} />}
        {name === 'commands' && commands !== undefined && (
          <CommandsPanel sessionId={model.id} commands={commands} stop={stopCommand} />
        )}
        {name === 'events' && <EventsPanel model={model} show={show} fork={fork} />}
      </div>
    </aside>
  );
}

interface ChangesProps {
  readonly model: SessionModel;
  readonly show: (seq: number) => void;
}

function ChangesPanel({ model, show }: ChangesProps): VNode {
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
