import type { VNode } from 'preact';
import { Icon } from '../parts/icons.tsx';
import type { SessionModel } from '../session/session-model.ts';
import { ChangesPanel } from './changes-panel.tsx';
import { EventsPanel } from './events-panel.tsx';
import { UsagePanel } from './usage-panel.tsx';

/** The views of the panel. */
export type PanelName = 'changes' | 'usage' | 'events';

export const panels: readonly PanelName[] = ['changes', 'usage', 'events'];

interface PanelProps {
  readonly model: SessionModel;
  readonly name: PanelName;
  readonly setPanel: (name: PanelName | undefined) => void;
  readonly show: (seq: number) => void;
  readonly fork: (seq: number) => void;
}

/** Other views of a session, on demand, next to the conversation. */
export function Panel({ model, name, setPanel, show, fork }: PanelProps): VNode {
  return (
    <aside class="panel" aria-label="Details">
      <div class="tabs" role="tablist">
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
        <button type="button" class="quiet close" aria-label="Close" onClick={() => setPanel(undefined)}>
          <Icon name="close" />
        </button>
      </div>
      <div class="panel-body" id="panel-body" role="tabpanel" aria-labelledby={`tab-${name}`}>
        {name === 'changes' && <ChangesPanel model={model} show={show} />}
        {name === 'usage' && <UsagePanel model={model} show={show} />}
        {name === 'events' && <EventsPanel model={model} show={show} fork={fork} />}
      </div>
    </aside>
  );
}
