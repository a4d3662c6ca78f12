import type { FunctionComponent, VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { copyText } from '../parts/copy-button.tsx';
import { memoize } from '../parts/hooks.tsx';
import { htmlOf, keptHtmlOf } from './markdown.ts';

interface ProseProps {
  readonly text: string;
}

/** Markdown that no longer changes. */
export const Prose: FunctionComponent<ProseProps> = memoize(({ text }: ProseProps) => (
  <Html html={keptHtmlOf(text)} />
));

/** Markdown that is still growing: only its last paragraph is rendered again. */
export function GrowingProse({ text }: ProseProps): VNode {
  const cut = stableLength(text);
  return (
    <>
      {cut > 0 && <Prose text={text.slice(0, cut)} />}
      <Html html={htmlOf(text.slice(cut))} />
    </>
  );
}

function Html({ html }: { readonly html: { readonly __html: string } }): VNode {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => addCopyButtons(ref.current), [html]);
  return <div class="prose" ref={ref} dangerouslySetInnerHTML={html} />;
}

function addCopyButtons(place: HTMLElement | null): void {
  for (const block of place?.querySelectorAll('pre') ?? []) {
    if (block.querySelector('button') !== null) continue;
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'quiet copy';
    button.textContent = 'Copy';
    button.addEventListener('click', () => {
      void copyText(block.querySelector('code')?.textContent ?? '');
      button.textContent = 'Copied';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, 1_500);
    });
    block.append(button);
  }
}

/**
 * Returns the position at which growing text can be split so that the part before it no longer changes: after the
 * last empty line outside of code and lists.
 */
export function stableLength(markdown: string): number {
  let [at, stable, inFence] = [0, 0, false];
  let afterBlank = false;
  for (const line of markdown.split('\n')) {
    const isFence = /^ {0,3}(```|~~~)/.test(line);
    if (afterBlank && !inFence && /^[^\s>*+\-|\d]/.test(line)) stable = at;
    if (isFence) inFence = !inFence;
    afterBlank = line.trim() === '';
    at += line.length + 1;
  }
  return stable;
}
