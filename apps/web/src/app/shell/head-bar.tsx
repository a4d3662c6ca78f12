import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { PanelName } from '../panels/panel.tsx';
import { money, tokens } from '../parts/format.ts';
import { Icon } from '../parts/icons.tsx';
import type { SessionEntry, UndoKind } from '../session/api.ts';
import type { SessionModel } from '../session/session-model.ts';
import { totalsOf } from '../session/turns.ts';
import { Ticking } from '../transcript/call-card.tsx';
import { stateMarks } from './sidebar.tsx';

interface HeadProps {
  readonly model: SessionModel | undefined;
  readonly title: string;
  readonly panel: PanelName | undefined;
  readonly setPanel: (panel: PanelName | undefined) => void;
  readonly openSidebar: () => void;
  readonly find: () => void;
  readonly rename: (title: string) => void;
  readonly copyAll: () => void;
  readonly remove: () => void;
  /** Absent if the server cannot undo. */
  readonly undo?: ((kind: UndoKind) => void) | undefined;
}

/** The title, status and cost of the session. */
export function HeadBar(props: HeadProps): VNode {
  const { model, title, panel, setPanel, openSidebar, find, rename, ...menu } = props;
  const [isNaming, setNaming] = useState(false);
  return (
    <header class="head">
      <button type="button" class="quiet to-sidebar" aria-label="Sessions" onClick={openSidebar}>
        <Icon name="list" />
      </button>
      {isNaming && model !== undefined ? (
        <TitleForm
          title={title}
          end={(next) => {
            setNaming(false);
            if (next !== undefined) rename(next);
          }}
        />
      ) : (
        <h1 title={title}>
          {model === undefined ? (
            title
          ) : (
            <button type="button" class="quiet" title="Rename this session" onClick={() => setNaming(true)}>
              {title}
            </button>
          )}
        </h1>
      )}
      {model !== undefined && (
        <>
          <StateChip model={model} />
          <Money model={model} />
          <button
            type="button"
            class="quiet find"
            aria-label="Find in this conversation"
            title="Find  /"
            onClick={find}
          >
            <Icon name="find" />
          </button>
          <button
            type="button"
            class="quiet panel-toggle"
            aria-expanded={panel !== undefined}
            title="Changes, usage, events  p"
            onClick={() => setPanel(panel === undefined ? 'changes' : undefined)}
          >
            <Icon name="panel" /> Details
          </button>
          <HeadMenu {...menu} rename={() => setNaming(true)} />
        </>
      )}
    </header>
  );
}

function Money({ model }: { readonly model: SessionModel }): VNode | null {
  const { items, paid } = model.view;
  const { usd, isPartial } = useMemo(() => totalsOf(paid), [paid, paid.length]);
  const { contextTokens } = model.view.state;
  if (items.length === 0) return null;
  return (
    <span class="money">
      {contextTokens > 0 && (
        <span title="Tokens in the conversation, as of the last request">
          {tokens(contextTokens)} in context
        </span>
      )}
      <span title={isPartial ? 'The price of some requests is unknown' : 'Total cost of this session'}>
        {isPartial && usd === 0 ? 'no price' : `${money(usd)}${isPartial ? '+' : ''}`}
      </span>
    </span>
  );
}

/** Returns the status in one word. */
export function stateOf(model: SessionModel): SessionEntry['status'] {
  if (model.pending.length > 0) return 'waiting';
  const { view } = model;
  if (model.isInterrupted) return 'interrupted';
  if (view.runStartedAt !== undefined) return 'running';
  return view.state.finished?.status ?? 'new';
}

function StateChip({ model }: { readonly model: SessionModel }): VNode | null {
  const { connection, caughtUp, view } = model;
  if (connection.state === 'lost') return <span class="state lost">◌ Reconnecting…</span>;
  if (connection.state === 'loading') return <span class="state muted">loading…</span>;
  return (
    <>
      {caughtUp !== undefined && caughtUp > 0 && (
        <span class="state good">caught up on {caughtUp === 1 ? '1 event' : `${caughtUp} events`}</span>
      )}
      <StatusWords status={stateOf(model)} since={view.runStartedAt} />
    </>
  );
}

interface StatusProps {
  readonly status: SessionEntry['status'];
  /** Start of the active run, ISO 8601. */
  readonly since: string | undefined;
}

function StatusWords({ status, since }: StatusProps): VNode | null {
  if (status === 'new') return null;
  const { mark, name } = stateMarks[status];
  return (
    <span class={`state ${status}`}>
      <span aria-hidden="true">{mark}</span> <span class="words">{name}</span>{' '}
      {status === 'running' && since !== undefined && <Ticking since={Date.parse(since)} />}
    </span>
  );
}

interface TitleProps {
  readonly title: string;
  /** Receives the new title, empty to reset it, or undefined if unchanged. */
  readonly end: (title: string | undefined) => void;
}

/** An editable title. Enter saves it; Esc and leaving the field discard it. */
function TitleForm({ title, end }: TitleProps): VNode {
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.select(), []);
  return (
    <form
      class="title-form"
      onSubmit={(event) => {
        event.preventDefault();
        const next = field.current?.value.trim() ?? '';
        end(next === title ? undefined : next);
      }}
    >
      <input
        ref={field}
        aria-label="Title"
        placeholder="Leave empty to use the start of the first prompt"
        defaultValue={title}
        maxLength={200}
        onBlur={() => end(undefined)}
      />
    </form>
  );
}

interface MenuProps extends Pick<HeadProps, 'copyAll' | 'remove' | 'undo'> {
  readonly rename: () => void;
}

/** Less common actions of a session. The menu closes after a choice, with Esc and on a click elsewhere. */
function HeadMenu({ rename, copyAll, remove, undo }: MenuProps): VNode {
  const menu = useRef<HTMLDetailsElement>(null);
  useClosing(menu);
  const item = (act: () => void) => () => {
    if (menu.current !== null) menu.current.open = false;
    act();
  };
  return (
    <details class="menu" ref={menu}>
      <summary aria-label="More">
        <Icon name="more" />
      </summary>
      <div class="menu-list">
        {undo !== undefined && (
          <>
            <button type="button" onClick={item(() => undo('undo'))}>
              Undo the last message…
            </button>
            <button type="button" onClick={item(() => undo('redo'))}>
              Redo…
            </button>
          </>
        )}
        <button type="button" onClick={item(rename)}>
          Rename…
        </button>
        <button type="button" onClick={item(copyAll)}>
          Copy as Markdown
        </button>
        <button type="button" class="danger" onClick={item(remove)}>
          Delete session…
        </button>
      </div>
    </details>
  );
}

function useClosing(menu: { readonly current: HTMLDetailsElement | null }): void {
  useEffect(() => {
    const onPointer = ({ target }: PointerEvent) => {
      const { current } = menu;
      if (current?.open === true && !(target instanceof Node && current.contains(target)))
        current.open = false;
    };
    const onKey = (event: KeyboardEvent) => {
      const { current } = menu;
      if (event.key !== 'Escape' || current?.open !== true) return;
      // Only close the menu.
      event.stopPropagation();
      current.open = false;
      current.querySelector('summary')?.focus();
    };
    document.addEventListener('pointerdown', onPointer);
    document.addEventListener('keydown', onKey, { capture: true });
    return () => {
      document.removeEventListener('pointerdown', onPointer);
      document.removeEventListener('keydown', onKey, { capture: true });
    };
  }, [menu]);
}
