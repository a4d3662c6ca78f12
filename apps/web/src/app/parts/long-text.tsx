import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { CopyButton } from './copy-button.tsx';
import { counted } from './format.ts';

interface LongTextProps {
  readonly text: string;
  /** Its kind, for the heading. */
  readonly name: string;
  /** Number of lines shown at first, from the end if `tail` is set. Default 40. */
  readonly lines?: number;
  readonly tail?: boolean;
}

/** More characters than this are never put into the page at once: it would stand still. */
const maxCharacters = 400_000;

/** Plain text that is partly hidden until the user expands it. */
export function LongText({ text, name, lines: most = 40, tail = false }: LongTextProps): VNode {
  const [all, set] = useState(false);
  const trimmed = text.replace(/\n+$/, '');
  const lines = trimmed.split('\n');
  const left = all ? 0 : Math.max(0, lines.length - most);
  const part = left === 0 ? trimmed : (tail ? lines.slice(-most) : lines.slice(0, most)).join('\n');
  const shown = all ? part.slice(0, maxCharacters) : part.slice(0, 20_000);
  const more = left > 0 || shown.length < part.length;
  const button = more && (
    <button type="button" class="quiet" onClick={() => set(true)}>
      {left > 0 ? `Show ${counted(left, tail ? 'line' : 'more line')}${tail ? ' before' : ''}` : 'Show all'}
    </button>
  );
  return (
    <div class="long-text">
      <div class="long-head">
        <span>{name}</span>
        <CopyButton text={() => text} />
      </div>
      {tail && button}
      <pre>{shown}</pre>
      {!tail && button}
    </div>
  );
}
