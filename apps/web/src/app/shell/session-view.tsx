import type { UserPart } from '@cobbler/agent';
import { visibleText } from '@cobbler/agent/events';
import { defined } from '@cobbler/agent/values';
import type { VNode } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { GivenMessage } from '../composer/composer.tsx';
import { Composer } from '../composer/composer.tsx';
import { ModelPicker } from '../composer/model-picker.tsx';
import { PlanToggle } from '../composer/plan-toggle.tsx';
import { TodoPanel } from '../composer/todo-panel.tsx';
import { Panel } from '../panels/panel.tsx';
import { messageOf } from '../parts/attachments.tsx';
import { copyText } from '../parts/copy-button.tsx';
import { counted } from '../parts/format.ts';
import { useChanged } from '../parts/hooks.tsx';
import type { RunChoice, SessionEntry, UndoKind } from '../session/api.ts';
import { api } from '../session/api.ts';
import type { Commands } from '../session/commands.ts';
import { useCommands } from '../session/commands.ts';
import { addressOf } from '../session/route.ts';
import type { SessionModel } from '../session/session-model.ts';
import { transcriptOf } from '../session/transcript-text.ts';
import { ApprovalCard } from '../transcript/approval-card.tsx';
import { Conversation } from '../transcript/conversation.tsx';
import type { ItemActions } from '../transcript/item-view.tsx';
import type { AppState } from './app-state.ts';
import { HeadBar, stateOf } from './head-bar.tsx';
import { UndoDialog } from './undo-dialog.tsx';

interface SessionProps {
  readonly app: AppState;
  /** Starts a new session with this message. */
  readonly start: (content: readonly UserPart[]) => Promise<void>;
  readonly openSidebar: () => void;
}

/** The open session, or the start of a new one. */
export function SessionView({ app, start, openSidebar }: SessionProps): VNode {
  const { model, list, panel } = app;
  useChanged(app, model, list);
  const [given, setGiven] = useState<GivenMessage>();
  const isLocal = app.setup?.local === true;
  const actions = useItemActions(app, model, isLocal, setGiven);
  const commands = useCommands(model, isLocal);
  const undo = (kind: UndoKind) => void app.askUndo(kind).catch(() => undefined);
  const title = titleOf(app);
  useEffect(() => {
    const elsewhere = list.items.filter(({ id, status }) => status === 'waiting' && id !== model?.id).length;
    showTabFace(model === undefined ? '' : title, model === undefined ? 'new' : stateOf(model), elsewhere);
  });
  const remove = () => {
    if (model === undefined || !confirm('Delete this session and all its events? This cannot be undone.'))
      return;
    void app
      .attempt(async () => {
        await api.remove(model.id);
        app.go({});
        await list.refresh();
      })
      .catch(() => undefined);
  };
  return (
    <main class={`stage${panel === undefined ? '' : ' with-panel'}`}>
      <HeadBar
        model={model}
        title={title}
        panel={panel}
        setPanel={(name) => app.setPanel(name)}
        openSidebar={openSidebar}
        find={() => app.find(!app.isFinding)}
        rename={(next) => void app.rename(next).catch(() => undefined)}
        copyAll={() => model && void copyText(transcriptOf(title, model.view.items))}
        remove={remove}
        undo={isLocal ? undo : undefined}
      />
      {model !== undefined && <PhoneTabs app={app} />}
      <div class="talk">
        {model === undefined ? (
          <EmptyState app={app} choose={(text) => setGiven({ text })} />
        ) : (
          <SessionConversation app={app} model={model} actions={actions} />
        )}
        <Dock
          {...{ app, model, start, given, commands }}
          redo={() => undo('redo')}
          endEdit={() => setGiven(undefined)}
        />
      </div>
      {panel !== undefined && model !== undefined && (
        <Panel
          model={model}
          name={panel}
          setPanel={(name) => app.setPanel(name)}
          show={(seq) => {
            if (matchMedia('(max-width: 1000px)').matches) app.setPanel(undefined);
            app.go({ sessionId: model.id, seq });
          }}
          fork={actions.fork}
          commands={isLocal ? commands : undefined}
          stopCommand={(id) => app.attempt(() => api.stopCommand(model.id, id))}
        />
      )}
      {app.undo !== undefined && <UndoDialog app={app} wanted={app.undo} />}
    </main>
  );
}

function titleOf({ model, list, place }: AppState): string {
  if (model === undefined) return 'New session';
  const listed = visibleText(list.items.find(({ id }) => id === place.sessionId)?.title ?? '');
  if (listed !== '') return listed;
  const first = model.view.items.find((item) => item.kind === 'user');
  const part = first?.kind === 'user' ? first.message.content.find(({ type }) => type === 'text') : undefined;
  return part?.type === 'text' ? part.text.slice(0, 80) : 'Untitled';
}

function useItemActions(
  app: AppState,
  model: SessionModel | undefined,
  isLocal: boolean,
  edit: (message: GivenMessage) => void,
): ItemActions {
  return useMemo(
    () => ({
      edit: ({ seq, message }) =>
        model?.isRunning === true
          ? app.warn('Stop the run before you edit a message.')
          : edit({ seq, ...messageOf(message.content) }),
      regenerate: () => {
        const last = model?.view.items.findLast((item) => item.kind === 'user' && !item.steer);
        if (last?.kind === 'user') void app.resend(last.seq, last.message.content).catch(() => undefined);
      },
      fork: (seq) => void app.fork(seq).catch(() => undefined),
      link: (seq) => addressOf({ ...defined({ sessionId: model?.id }), seq }),
      resume: () => model && void app.attempt(() => api.resume(model.id)).catch(() => undefined),
      opened: new Map(),
      ...(isLocal && { undo: () => void app.askUndo('undo').catch(() => undefined) }),
    }),
    [app, model, isLocal],
  );
}

/** On a phone, the panel replaces the conversation. */
function PhoneTabs({ app }: { readonly app: AppState }): VNode {
  const isSession = app.panel === undefined;
  return (
    <div class="phone-tabs" role="tablist">
      <button type="button" role="tab" aria-selected={isSession} onClick={() => app.setPanel(undefined)}>
        Session
      </button>
      <button type="button" role="tab" aria-selected={!isSession} onClick={() => app.setPanel('changes')}>
        Changes
      </button>
    </div>
  );
}

interface SessionConversationProps {
  readonly app: AppState;
  readonly model: SessionModel;
  readonly actions: ItemActions;
}

function SessionConversation({ app, model, actions }: SessionConversationProps): VNode {
  const { connection } = model;
  if (connection.state === 'refused') {
    return (
      <div class="empty">
        <h2>Cannot show this session</h2>
        <p class="bad">{connection.reason}</p>
        <p>
          <button type="button" onClick={() => app.go({})}>
            Start a new one
          </button>
        </p>
      </div>
    );
  }
  return (
    <Conversation
      model={model}
      actions={actions}
      target={app.place.seq}
      isFinding={app.isFinding}
      endFinding={() => app.find(false)}
    />
  );
}

interface DockProps {
  readonly app: AppState;
  readonly model: SessionModel | undefined;
  readonly start: SessionProps['start'];
  readonly given: GivenMessage | undefined;
  readonly endEdit: () => void;
  readonly commands: Commands;
  readonly redo: () => void;
}

/** The area below the conversation: open questions and the message field. */
function Dock({ app, model, start, given, endEdit, commands, redo }: DockProps): VNode {
  const [isStopping, setStopping] = useState(false);
  const [first, ...others] = model?.pending ?? [];
  const isRunning = model?.isRunning ?? false;
  useEffect(() => {
    if (!isRunning) setStopping(false);
  }, [isRunning]);
  const stop = () => {
    if (model === undefined) return;
    setStopping(true);
    void app
      .attempt(() => api.cancel(model.id))
      .catch(() => undefined)
      .finally(() => setStopping(false));
  };
  const say = async (content: readonly UserPart[]) => {
    if (model === undefined) return await start(content);
    if (given?.seq === undefined) return await app.attempt(() => model.say(content));
    await app.resend(given.seq, content);
  };
  return (
    <div class="dock">
      {model !== undefined && first !== undefined && (
        <ApprovalCard
          key={first.approval?.approvalId}
          call={first}
          others={others.length}
          resume={() => void app.attempt(() => api.resume(model.id)).catch(() => undefined)}
          answer={(...given) => app.attempt(() => model.answer(...given))}
          rules={(approvalId) => api.rules(model.id, approvalId)}
        />
      )}
      {model !== undefined && first === undefined && <TodoPanel model={model} />}
      {model !== undefined && app.undone.get(model.id) === model.view.state.seq && model.isLoaded && (
        <p class="strip">
          <span>Your last message is undone.</span>
          <button type="button" class="quiet" onClick={redo}>
            Redo…
          </button>
        </p>
      )}
      {commands.running > 0 && (
        <button type="button" class="strip" onClick={() => app.setPanel('commands')}>
          <span class="running">●</span> {counted(commands.running, 'command')} in the background
        </button>
      )}
      <Composer
        picker={<Picker app={app} />}
        name={model?.id ?? 'new'}
        isNew={model === undefined || model.id === app.createdId}
        isRunning={isRunning}
        isWaiting={first !== undefined}
        isStopping={isStopping}
        say={say}
        endEdit={endEdit}
        stop={stop}
        warn={(text) => app.warn(text)}
        {...(given !== undefined && { given })}
      />
    </div>
  );
}

/** What the user can choose for the next run. */
function Picker({ app }: { readonly app: AppState }): VNode {
  const { setup, next } = app;
  const choose = (change: RunChoice) => void app.choose(change).catch(() => undefined);
  return (
    <>
      {setup !== undefined && next !== undefined && (
        <ModelPicker models={setup.models} next={next} choose={choose} />
      )}
      {setup?.local === true && <PlanToggle isOn={app.plans} set={(plan) => choose({ plan })} />}
    </>
  );
}

const colours: Readonly<Partial<Record<SessionEntry['status'], string>>> = {
  running: '#2f6feb',
  waiting: '#d97706',
  failed: '#d1242f',
  complete: '#1a7f4b',
};

const signs: Readonly<Partial<Record<SessionEntry['status'], string>>> = {
  running: '● ',
  waiting: '! ',
  failed: '✗ ',
};

function showTabFace(title: string, status: SessionEntry['status'], waitingElsewhere: number): void {
  const others = waitingElsewhere > 0 ? `(${waitingElsewhere}) ` : '';
  const text = `${signs[status] ?? ''}${others}${title === '' ? 'Cobbler' : `${title} – Cobbler`}`;
  if (document.title !== text) document.title = text;
  const href = iconOf(colours[status]);
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  if (link !== null && link.href !== href) link.href = href;
}

/** Returns the icon: the sole of a shoe, and a dot for the status. */
function iconOf(colour: string | undefined): string {
  const dot =
    colour === undefined
      ? ''
      : `<circle cx="23" cy="23" r="8" fill="${colour}" stroke="#fff" stroke-width="2"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#3d4a5c"/><path d="M10 5c4 0 6 4 5 9s-1 5 0 9-2 5-4 5-5-2-5-7 1-4 0-8 0-8 4-8z" fill="#fff"/>${dot}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

const examples: readonly (readonly [string, (folder: string) => string])[] = [
  ['Explain', (folder) => `What does ${folder} do, and how is it built? Name the files to read first.`],
  ['Fix', (folder) => `Run the tests of ${folder}, find out why one fails, and fix it.`],
  ['Plan', (folder) => `Find the part of ${folder} that most needs a test, and present a plan for it.`],
];

interface EmptyProps {
  readonly app: AppState;
  readonly choose: (text: string) => void;
}

/** The start of a new session. */
function EmptyState({ app: { setup, list, plans }, choose }: EmptyProps): VNode {
  const folder = list.folder?.split('/').at(-1) ?? setup?.folder;
  const permission = plans ? 'changes nothing until you approve a plan' : setup?.permission;
  const place = folder === undefined ? 'this project' : visibleText(folder, 'name');
  return (
    <div class="empty">
      <h2>What should be done{folder === undefined ? '' : ` in ${place}`}?</h2>
      <p class="muted">
        {permission === undefined
          ? 'The agent works in the directory of the server, with the permissions that the server gives it.'
          : `The agent works in this directory. Its mode: ${permission}.`}
      </p>
      <ul>
        {examples.map(([name, text]) => (
          <li key={name}>
            <button type="button" onClick={() => choose(text(place))}>
              <strong>{name}</strong>
              <span>{text(place)}</span>
            </button>
          </li>
        ))}
      </ul>
      <p class="muted small">
        <kbd>Enter</kbd> sends, <kbd>Shift</kbd> <kbd>Enter</kbd> starts a new line, <kbd>Esc</kbd> then{' '}
        <kbd>?</kbd> shows all keys. You can paste or drop files.
      </p>
    </div>
  );
}
