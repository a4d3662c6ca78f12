import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError, api } from '../session/api.ts';

interface SignInProps {
  /** The reason for the sign-in. */
  readonly reason: string;
  readonly done: () => void;
}

/** A form that exchanges a token for the page's cookie. */
export function SignIn({ reason, done }: SignInProps): VNode {
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
