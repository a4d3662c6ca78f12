import type { VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface TitleProps {
  readonly title: string;
  /** Receives the new title, empty to reset it, or undefined if unchanged. */
  readonly end: (title: string | undefined) => void;
}

/** A title being written, in its place. Enter keeps it, Esc and leaving the field do not. */
export function TitleForm({ title, end }: TitleProps): VNode {
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
