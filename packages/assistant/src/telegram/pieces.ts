import { defined } from '@cobbler/agent/values';
import type { MessagePart } from '../channel/channel.ts';
import { maxNoteLength } from '../channel/channel.ts';
import { cutRuns } from './cut.ts';
import { htmlText } from './html-text.ts';
import { markdownText } from './markdown-text.ts';
import { plain, sameStyle, visibleText } from './styled-text.ts';

/** UTF-16 units of a message after Telegram has read its markup. */
export const maxMessageLength = 4096;

/** UTF-16 units of a piece: room is left for a note and the blank line below it. */
export const maxPartLength: number = maxMessageLength - maxNoteLength - 2;

/** Markdown as messages for Telegram, in its HTML. The same text always gives the same pieces; a blank one none. */
export function piecesOf(markdown: string): MessagePart[] {
  return cutRuns(markdownText(markdown), maxPartLength).map((runs) => {
    const text = visibleText(runs);
    return runs.every(({ style }) => sameStyle(style, plain)) ? { text } : { text, markup: htmlText(runs) };
  });
}

/** A piece with a note above it, in italics where the piece has markup. */
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
