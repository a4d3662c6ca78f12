import type { Piece } from '../channel.ts';
import { cutRuns } from './cut.ts';
import { htmlText } from './html-text.ts';
import { markdownText } from './markdown-text.ts';
import { plain, sameStyle, visibleText } from './styled-text.ts';

/** UTF-16 units of a message after Telegram has read its markup. */
export const longestMessage = 4096;

/** Markdown as messages for Telegram, in its HTML. The same text always gives the same pieces; a blank one none. */
export function piecesOf(markdown: string): Piece[] {
  return cutRuns(markdownText(markdown), longestMessage).map((runs) => {
    const text = visibleText(runs);
    return runs.every(({ style }) => sameStyle(style, plain)) ? { text } : { text, markup: htmlText(runs) };
  });
}
