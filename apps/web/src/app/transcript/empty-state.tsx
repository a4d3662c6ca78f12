import type { VNode } from 'preact';

const examples: readonly (readonly [string, string])[] = [
  ['Explain', 'Read this project and tell me what it does and how it is built.'],
  ['Fix', 'Run the tests, find out why one fails, and fix it.'],
  ['Add', 'Add a README section that shows how to run this project.'],
];

/** Where a new session begins. */
export function EmptyState({ choose }: { readonly choose: (text: string) => void }): VNode {
  const curl = `curl -N ${location.origin}/v1/sessions/ID/events -H "Authorization: Bearer $TOKEN"`;
  return (
    <div class="empty">
      <h2>What should be done?</h2>
      <p class="muted">
        It works in the directory where the server was started, and asks before it changes anything.
      </p>
      <ul>
        {examples.map(([name, text]) => (
          <li key={name}>
            <button type="button" onClick={() => choose(text)}>
              <strong>{name}</strong>
              <span>{text}</span>
            </button>
          </li>
        ))}
      </ul>
      <p class="muted small">
        To read a session's events in a shell; ID is the end of its address, TOKEN is in the address you
        opened:
      </p>
      <pre class="curl">{curl}</pre>
    </div>
  );
}
