import type { UserPart } from '@cobbler/agent';
import type { VNode } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { moveDraft } from './composer/composer.tsx';
import type { Announcer } from './parts/announcer.tsx';
import { LiveRegion } from './parts/announcer.tsx';
import { useChanged } from './parts/hooks.tsx';
import { Icon } from './parts/icons.tsx';
import { chooseTheme, chosenTheme } from './parts/theme.ts';
import { ApiError, api } from './session/api.ts';
import type { AppState } from './shell/app-state.ts';
import { CostsView } from './shell/costs-view.tsx';
import { KeysDialog, usePageKeys } from './shell/keys.tsx';
import { SessionView } from './shell/session-view.tsx';
import { Sidebar } from './shell/sidebar.tsx';

/** The whole page. */
export function App({ app, announcer }: { readonly app: AppState; readonly announcer: Announcer }): VNode {
  useChanged(app, app.list);
  const [theme, setTheme] = useState(chosenTheme());
  const [hasKeys, setKeys] = useState(false);
  const [isDrawerOpen, setDrawer] = useState(false);
  const { place, model, list } = app;
  usePageKeys(app, { showKeys: () => setKeys(true) });
  useEffect(() => setDrawer(false), [place.sessionId]);
  useDrawerFocus(isDrawerOpen, () => setDrawer(false));
  const isOut = list.isSignedOut || model?.connection.state === 'signed_out';
  const start = useMemo(
    () => async (content: readonly UserPart[]) => {
      await app.attempt(async () => {
        const entry = await app.create();
        moveDraft('new', entry.id);
        app.begin(entry);
        await app.model?.say(content);
        void list.refresh();
      });
    },
    [app, list],
  );
  if (isOut) {
    const reason = list.isLoaded
      ? 'Your session has expired. Open the address that cobbler serve printed, or enter the token from that address:'
      : 'This is an agent server. Open the address that cobbler serve printed, or enter the token from that address:';
    return (
      <>
        <SignIn reason={reason} done={() => app.signedIn()} />
        <Warnings app={app} />
      </>
    );
  }
  return (
    <div class={`app${isDrawerOpen ? ' drawer-open' : ''}`}>
      <Sidebar
        list={list}
        place={place}
        go={(next) => {
          setDrawer(false);
          app.go(next);
        }}
        theme={theme}
        setTheme={(next) => {
          chooseTheme(next);
          setTheme(next);
        }}
        showKeys={() => setKeys(true)}
      />
      <button
        type="button"
        class="shade"
        aria-label="Close the list"
        tabIndex={-1}
        onClick={() => setDrawer(false)}
      />
      {place.isCosts ? (
        <CostsView app={app} openSidebar={() => setDrawer(true)} />
      ) : (
        <SessionView
          key={place.sessionId ?? 'new'}
          app={app}
          start={start}
          openSidebar={() => setDrawer(true)}
        />
      )}
      <Warnings app={app} />
      <LiveRegion announcer={announcer} />
      <KeysDialog isOpen={hasKeys} close={() => setKeys(false)} />
    </div>
  );
}

/** Keeps the focus in the open list of sessions of a narrow window, and returns it afterwards. Esc closes the list. */
function useDrawerFocus(isOpen: boolean, close: () => void): void {
  useEffect(() => {
    if (!isOpen) return undefined;
    const [drawer, stage] = ['.sidebar', '.stage'].map((name) => document.querySelector<HTMLElement>(name));
    stage?.toggleAttribute('inert', true);
    drawer?.querySelector('button')?.focus();
    const onKeyDown = ({ key }: KeyboardEvent) => key === 'Escape' && close();
    drawer?.addEventListener('keydown', onKeyDown);
    const narrow = matchMedia('(max-width: 760px)');
    narrow.addEventListener('change', close);
    if (!narrow.matches) close();
    return () => {
      narrow.removeEventListener('change', close);
      stage?.toggleAttribute('inert', false);
      drawer?.removeEventListener('keydown', onKeyDown);
      const { activeElement, body } = document;
      if (activeElement === body || drawer?.contains(activeElement) === true)
        document.querySelector<HTMLElement>('.to-sidebar')?.focus();
    };
  }, [isOpen]);
}

function Warnings({ app }: { readonly app: AppState }): VNode {
  return (
    <div class="toasts" role="alert">
      {app.warnings.map(({ id, text, tone }) => (
        <div key={id} class={`toast ${tone}`}>
          <span>{text}</span>
          <button type="button" class="quiet" aria-label="Close" onClick={() => app.dismiss(id)}>
            <Icon name="close" />
          </button>
        </div>
      ))}
    </div>
  );
}

interface SignInProps {
  readonly reason: string;
  readonly done: () => void;
}

function focus(field: HTMLElement | null): void {
  field?.focus();
}

/** A form that exchanges a token for the page's cookie. */
function SignIn({ reason, done }: SignInProps): VNode {
  const [problem, setProblem] = useState('');
  const [token, setToken] = useState('');
  const submit = async () => {
    try {
      // A pasted address contains the token.
      await api.signIn(token.trim().replace(/^.*#token=/, ''));
      done();
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : String(error));
    }
  };
  return (
    <main class="sign-in">
      <h1>cobbler</h1>
      <p>{reason}</p>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <input
          ref={focus}
          type="password"
          aria-label="Token"
          placeholder="cbk_… or the whole address"
          autocomplete="off"
          required
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
        <button type="submit" class="primary">
          Sign in
        </button>
      </form>
      <p role="alert" class="bad">
        {problem}
      </p>
      <p class="muted small">
        The address that <code>cobbler serve</code> prints signs you in automatically. The token is not stored
        in server logs or in this page.
      </p>
    </main>
  );
}
