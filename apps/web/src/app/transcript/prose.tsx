import type { FunctionComponent, VNode } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { copyText } from '../parts/copy-button.tsx';
import { memoize } from '../parts/hooks.tsx';
import type { CleanHtml } from './markdown.ts';
import { codeHtmlOf, htmlOf, keptHtmlOf } from './markdown.ts';

interface ProseProps {
  readonly text: string;
}

/** Markdown that no longer changes. */
export const Prose: FunctionComponent<ProseProps> = memoize(({ text }: ProseProps) => (
  <Html html={keptHtmlOf(text)} isWhole />
));

/** Markdown that is still growing: only its last paragraph is rendered again. */
export function GrowingProse({ text }: ProseProps): VNode {
  const cut = stableLength(text);
  return (
    <>
      {cut > 0 && <Prose text={text.slice(0, cut)} />}
      <Html key={cut} html={htmlOf(text.slice(cut))} />
    </>
  );
}

interface HtmlProps {
  readonly html: CleanHtml;
  /** True if it no longer changes. Its code is then colored: in growing text that would take too long. */
  readonly isWhole?: boolean;
}

function Html({ html, isWhole = false }: HtmlProps): VNode {
  const ref = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    addCopyButtons(ref.current);
    if (isWhole) void addColors(ref.current);
  }, [html]);
  return <div class="prose" ref={ref} dangerouslySetInnerHTML={html} />;
}

let loading: Promise<typeof import('./highlight.ts')> | undefined;

/** Colors code. The colors are loaded with the first block; without them, the code stays readable. */
async function addColors(place: HTMLElement | null): Promise<void> {
  const blocks = [...(place?.querySelectorAll<HTMLElement>('pre[data-lang]') ?? [])];
  if (blocks.length === 0) return;
  loading ??= import('./highlight.ts');
  try {
    const { highlighted } = await loading;
    for (const block of blocks) {
      const code = block.querySelector('code');
      const html = highlighted(code?.textContent ?? '', block.dataset['lang'] ?? '');
      if (code !== null && html !== undefined) code.innerHTML = codeHtmlOf(html).__html;
    }
  } catch {
    loading = undefined;
  }
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
