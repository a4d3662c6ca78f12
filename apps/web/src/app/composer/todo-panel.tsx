import type { VNode } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { Icon } from '../parts/icons.tsx';
import type { SessionModel } from '../session/session-model.ts';
import type { Todo } from '../session/todos.ts';
import { todosIn } from '../session/todos.ts';

/** The to-do list of the model, while something on it is not done. The model learns changes with the next message. */
export function TodoPanel({ model }: { readonly model: SessionModel }): VNode | null {
  const { items } = model.view;
  const stored = useMemo(() => todosIn(items), [model.version]);
  const field = useRef<HTMLInputElement>(null);
  const todos = model.todos ?? stored;
  const done = todos.filter(({ status }) => status === 'done').length;
  if (model.todos === undefined && done === todos.length) return null;
  const change = (at: number, next?: Todo) =>
    model.changeTodos(todos.toSpliced(at, 1, ...(next ? [next] : [])));
  return (
    <details class="todos">
      <summary>
        To-do list: {done} of {todos.length} done{' '}
        <span class="muted">
          {model.todos === undefined
            ? todos.find(({ status }) => status === 'active')?.text
            : 'changed, sent with your next message'}
        </span>
      </summary>
      <ul class="todos-list">
        {todos.map((todo, at) => (
          <li key={at} class={`todos-item ${todo.status}`}>
            <label>
              <input
                type="checkbox"
                checked={todo.status === 'done'}
                onChange={({ currentTarget: { checked } }) =>
                  change(at, { ...todo, status: checked ? 'done' : 'open' })
                }
              />
              <span>{todo.text}</span>
            </label>
            <button type="button" class="quiet" aria-label={`Remove ${todo.text}`} onClick={() => change(at)}>
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ul>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const text = field.current?.value.trim() ?? '';
          if (text !== '') change(todos.length, { text, status: 'open' });
          if (field.current !== null) field.current.value = '';
        }}
      >
        <input
          ref={field}
          class="todos-new"
          maxLength={300}
          aria-label="New item"
          placeholder="Add an item"
        />
      </form>
    </details>
  );
}
