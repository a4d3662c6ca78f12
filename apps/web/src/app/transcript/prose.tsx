import type { VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { copyText } from '../parts/copy-button.tsx';
import { stableLength } from '../parts/stable-text.ts';
import { still } from '../parts/still.tsx';
import { htmlOf, keptHtmlOf } from './markdown.ts';

interface ProseProps {
  readonly text: string;
}

/** Markdown that no longer changes. */
export const Prose: (props: ProseProps) => VNode | null = still(({ text }: ProseProps) => (
  <Html html={keptHtmlOf(text)} />
)) as (props: ProseProps) => VNode | null;

/** Markdown that still grows: only its last paragraph is drawn again and again. */
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
