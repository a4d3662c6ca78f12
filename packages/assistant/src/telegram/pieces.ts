import { read, text } from '@cobbler/agent/input';
import { defined } from '@cobbler/agent/values';
import type { MessagePart } from '../channel/channel.ts';
import { maxNoteLength } from '../channel/channel.ts';
import { cutRuns } from './cut.ts';
import { markdownText } from './markdown-text.ts';
import type { TextRun, TextStyle } from './styled-text.ts';
import { plain, sameStyle, visibleText } from './styled-text.ts';

/** Maximum number of UTF-16 code units of a message after Telegram has parsed its markup. */
export const maxMessageLength = 4096;

/** Maximum number of UTF-16 code units of a part, with room for a note and the blank line below it. */
export const maxPartLength: number = maxMessageLength - maxNoteLength - 2;

/**
 * Converts Markdown to Telegram messages in HTML. The same text always has the same parts; a blank text has none.
 * @throws AgentError `invalid` for a value that is not a string.
 */
export function piecesOf(markdown: string): MessagePart[] {
  read(markdown, text, 'markdown');
  return cutRuns(markdownText(markdown), maxPartLength).map((runs) => {
    const text = visibleText(runs);
    return runs.every(({ style }) => sameStyle(style, plain)) ? { text } : { text, markup: htmlText(runs) };
  });
}

/** Adds a note above a part, in italics if the part has markup. */
export function withNote({ text, markup }: MessagePart, note: string | undefined): MessagePart {
  if (note === undefined) return { text, ...defined({ markup }) };
  return {
    text: `${note}\n\n${text}`,
    ...(markup !== undefined && { markup: `${italic(note)}\n\n${markup}` }),
  };
}

function italic(text: string): string {
  return htmlText([{ text, style: { ...plain, italic: true } }]);
}

interface Tag {
  readonly open: string;
  readonly close: string;
}

/** Converts runs to Telegram's HTML, with correctly nested tags. */
function htmlText(runs: readonly TextRun[]): string {
  let html = '';
  let opened: readonly Tag[] = [];
  for (const { text, style } of runs) {
    const wanted = tagsOf(style);
    const kept = commonLength(opened, wanted);
    html += closing(opened.slice(kept));
    for (const { open } of wanted.slice(kept)) html += open;
    html += escapeHtml(text);
    opened = wanted;
  }
  return html + closing(opened);
}

/** Returns the tags of a style, outermost first. */
function tagsOf(style: TextStyle): Tag[] {
  const tags: Tag[] = [];
  const add = (open: string, close: string) => tags.push({ open, close });
  if (style.quote === true) add('<blockquote>', '</blockquote>');
  if (style.pre === '') add('<pre>', '</pre>');
  else if (style.pre !== undefined)
    add(`<pre><code class="language-${escapeHtml(style.pre)}">`, '</code></pre>');
  if (style.href !== undefined) add(`<a href="${escapeHtml(style.href)}">`, '</a>');
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

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => references[sign] ?? sign);
}
