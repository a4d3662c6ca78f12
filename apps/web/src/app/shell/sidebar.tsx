import { visibleText } from '@cobbler/agent/events';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { ago, money } from '../parts/format.ts';
import { useChanged, useNow } from '../parts/hooks.tsx';
import { Icon } from '../parts/icons.tsx';
import type { Theme } from '../parts/theme.ts';
import { themes } from '../parts/theme.ts';
import type { FoundMessage, SessionEntry } from '../session/api.ts';
import { MessageSearch } from '../session/message-search.ts';
import { notifies, toggleNotifications } from '../session/notifications.ts';
import { PageLink } from '../session/page-link.tsx';
import type { PageRoute } from '../session/route.ts';
import type { SessionList } from '../session/session-list.ts';

interface SidebarProps {
  readonly list: SessionList;
  readonly place: PageRoute;
  readonly go: (place: PageRoute) => void;
  readonly theme: Theme;
  readonly setTheme: (theme: Theme) => void;
  readonly showKeys: () => void;
}

/** All sessions, the newest first. */
export function Sidebar({ list, place, go, theme, setTheme, showKeys }: SidebarProps): VNode {
  useChanged(list);
  const now = useNow(30_000);
  const [words, setWords] = useState('');
  const [search] = useState(() => new MessageSearch());
  const [isNotifying, setNotifying] = useState(notifies());
  useChanged(search);
  const wanted = words.trim().toLowerCase();
  const shown = list.items.filter(({ title, id }) => `${title}\n${id}`.toLowerCase().includes(wanted));
  return (
    <nav class="sidebar" aria-label="Sessions">
      <div class="sidebar-head">
        <strong class="name">cobbler</strong>
        <button type="button" class="primary" onClick={() => go({})}>
          <Icon name="plus" /> New
        </button>
      </div>
      <input
        id="session-search"
        type="search"
        placeholder="Search sessions"
        aria-label="Search sessions"
        value={words}
        onInput={(event) => {
          const { value } = event.currentTarget;
          setWords(value);
          search.look(value.trim());
          void list.all();
        }}
        onKeyDown={({ key }) => {
          if (key === 'Enter' && wanted !== '')
            document.querySelector<HTMLElement>('.sidebar :is(.page-row, .session-row)')?.click();
        }}
      />
      <FolderChoice list={list} />
      {'costs'.startsWith(wanted) && (
        <PageLink to={{ isCosts: true }} class="page-row" isCurrent={place.isCosts === true} go={go}>
          <span class="row-mark" aria-hidden="true">
            $
          </span>
          Costs
        </PageLink>
      )}
      <ul class="sessions">
        {shown.map((entry) => (
          <SessionRow
            key={entry.id}
            entry={entry}
            now={now}
            isCurrent={entry.id === place.sessionId}
            go={go}
          />
        ))}
        {list.isLoaded && shown.length === 0 && (
          <li class="muted small none">{wanted === '' ? 'No sessions yet.' : 'No matching titles.'}</li>
        )}
        {wanted !== '' && search.items.length > 0 && <li class="muted small none">Messages</li>}
        {wanted !== '' &&
          search.items.map((found) => (
            <FoundRow key={`${found.sessionId} ${found.seq}`} found={found} go={go} />
          ))}
        {wanted !== '' && search.note !== '' && <li class="muted small none">{search.note}</li>}
        {list.hasMore && wanted === '' && (
          <li>
            <button type="button" class="quiet" onClick={() => void list.more()}>
              Load older
            </button>
          </li>
        )}
      </ul>
      <div class="sidebar-foot">
        <button
          type="button"
          class="quiet"
          onClick={() => setTheme(themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'auto')}
        >
          <span aria-hidden="true">◐</span> {theme}
        </button>
        {'Notification' in window && (
          <button
            type="button"
            class="quiet"
            aria-pressed={isNotifying}
            title="Desktop notifications while this tab is hidden"
            onClick={() => void toggleNotifications().then(() => setNotifying(notifies()))}
          >
            notify: {isNotifying ? 'on' : 'off'}
          </button>
        )}
        <button type="button" class="quiet" onClick={showKeys}>
          <kbd>?</kbd> keys
        </button>
        <a class="quiet" href="/docs" target="_blank" rel="noreferrer">
          API
        </a>
      </div>
    </nav>
  );
}

/** The choice of a directory, if there are several: of the sessions in the list, and of new ones. */
function FolderChoice({ list }: { readonly list: SessionList }): VNode | null {
  const known = new Set([...list.folders, ...list.items.flatMap(({ folder }) => folder ?? [])]);
  if (known.size < 2) return null;
  return (
    <select
      aria-label="Directory of the listed and new sessions"
      title={list.folder}
      value={list.folder ?? ''}
      onChange={({ currentTarget: { value } }) => list.show(value === '' ? undefined : value)}
    >
      <option value="">All directories</option>
      {[...known].map((folder) => (
        <option key={folder} value={folder}>
          {visibleText(folder, 'name')}
        </option>
      ))}
    </select>
  );
}

/** A message that the search has found. */
function FoundRow({ found, go }: { readonly found: FoundMessage; readonly go: SidebarProps['go'] }): VNode {
  const { sessionId, seq, title, snippet } = found;
  return (
    <li>
      <PageLink to={{ sessionId, seq }} class="session-row found" go={go}>
        <span class="title">{title === '' ? 'Untitled' : visibleText(title)}</span>
        <span class="where">
          {snippet.map((piece, index) =>
            index % 2 === 1 ? <mark key={index}>{visibleText(piece)}</mark> : visibleText(piece),
          )}
        </span>
      </PageLink>
    </li>
  );
}

interface SessionRowProps {
  readonly entry: SessionEntry;
  readonly now: number;
  readonly isCurrent: boolean;
  readonly go: (place: PageRoute) => void;
}

function SessionRow({ entry, now, isCurrent, go }: SessionRowProps): VNode {
  const { id, title, status, updatedAt, usd, folder, model } = entry;
  const place = folder?.split('/').at(-1) ?? '';
  const facts = [place, model ?? ''];
  const state = stateMarks[status];
  return (
    <li>
      <PageLink to={{ sessionId: id }} class={`session-row ${status}`} isCurrent={isCurrent} go={go}>
        <span class="row-mark" role="img" aria-label={state.name}>
          {state.mark}
        </span>
        <span class="title">{title === '' ? 'Untitled' : visibleText(title)}</span>
        <span class="when">{updatedAt === undefined ? '' : ago(updatedAt, now)}</span>
        <span class="where" title={folder}>
          {facts.flatMap((fact) => (fact === '' ? [] : visibleText(fact, 'name'))).join(' · ')}
        </span>
        <span class="when cost">{usd === undefined || usd === 0 ? '' : money(usd)}</span>
      </PageLink>
    </li>
  );
}

/** The status of a session, as a symbol that needs no color. */
export const stateMarks: Readonly<
  Record<SessionEntry['status'], { readonly mark: string; readonly name: string }>
> = {
  new: { mark: '·', name: 'new' },
  running: { mark: '●', name: 'running' },
  interrupted: { mark: '◌', name: 'interrupted' },
  waiting: { mark: '!', name: 'waiting for approval' },
  complete: { mark: '✓', name: 'complete' },
  max_tokens: { mark: '■', name: 'response cut off' },
  refusal: { mark: '■', name: 'refused' },
  limit: { mark: '■', name: 'stopped at a limit' },
  cancelled: { mark: '■', name: 'cancelled' },
  timeout: { mark: '■', name: 'timed out' },
  failed: { mark: '✗', name: 'failed' },
};
