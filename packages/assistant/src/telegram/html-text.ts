import type { TextRun, TextStyle } from './styled-text.ts';

interface Tag {
  readonly open: string;
  readonly close: string;
}

/** The runs in the HTML that Telegram understands, each tag closed in the right order. */
export function htmlText(runs: readonly TextRun[]): string {
  let html = '';
  let opened: readonly Tag[] = [];
  for (const { text, style } of runs) {
    const wanted = tagsOf(style);
    const kept = commonLength(opened, wanted);
    html += closing(opened.slice(kept));
    for (const { open } of wanted.slice(kept)) html += open;
    html += escaped(text);
    opened = wanted;
  }
  return html + closing(opened);
}

/** Outermost first. */
function tagsOf(style: TextStyle): Tag[] {
  const tags: Tag[] = [];
  const add = (open: string, close: string) => tags.push({ open, close });
  if (style.quote === true) add('<blockquote>', '</blockquote>');
  if (style.pre === '') add('<pre>', '</pre>');
  else if (style.pre !== undefined)
    add(`<pre><code class="language-${escaped(style.pre)}">`, '</code></pre>');
  if (style.href !== undefined) add(`<a href="${escaped(style.href)}">`, '</a>');
  if (style.bold === true) add('<b>', '</b>');
  if (style.italic === true) add('<i>', '</i>');
  if (style.strike === true) add('<s>', '</s>');
  if (style.code === true) add('<code>', '</code>');
  return tags;
}

function commonLength(a: readonly Tag[], b: readonly Tag[]): number {
  let length = 0;
  while (length < a.length && a[length]?.open === b[length]?.open) length += 1;
  return length;
}

function closing(tags: readonly Tag[]): string {
  return tags.map(({ close }) => close).reduceRight((html, close) => html + close, '');
}

const references: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => references[sign] ?? sign);
}
