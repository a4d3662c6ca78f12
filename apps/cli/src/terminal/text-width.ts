let made: Intl.Segmenter | undefined;

/** Made at the first text that needs it: it loads the tables of Unicode, which takes as long as a whole module. */
function segmenter(): Intl.Segmenter {
  made ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return made;
}

/** Characters that terminals draw two cells wide: East Asian wide and full-width, and emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f/u;

/** Characters that take no cell of their own: combining marks and format characters. */
const empty = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

/** Texts of which each code unit is a character of one cell: ASCII, Latin letters, and the marks of a report. */
const plain = /^[\x20-\x7e\xa1-\xac\xae-\u024f\u2013-\u2026\u25a0\u2713\u2717\u2800-\u28ff]*$/;

/** The number of terminal cells of a text. The text must not contain escape sequences or line breaks. */
export function widthOf(text: string): number {
  if (plain.test(text)) return text.length;
  let width = 0;
  for (const { segment } of segmenter().segment(text)) width += widthOfCharacter(segment);
  return width;
}

function widthOfCharacter(character: string): number {
  if (empty.test(character)) return 0;
  return wide.test(character) ? 2 : 1;
}

/** A text cut to at most `width` cells; what was cut is marked by `ellipsis`. */
export function clip(text: string, width: number, ellipsis: string): string {
  if (widthOf(text) <= width) return text;
  const room = width - widthOf(ellipsis);
  if (room <= 0) return ellipsis.slice(0, Math.max(0, width));
  return head(text, room) + ellipsis;
}

/** As much of a text as fits into `width` cells. */
export function head(text: string, width: number): string {
  let used = 0;
  let end = 0;
  for (const { segment, index } of segmenter().segment(text)) {
    used += widthOfCharacter(segment);
    if (used > width) break;
    end = index + segment.length;
  }
  return text.slice(0, end);
}

/** A text filled up with blanks to `width` cells. */
export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** Joins pieces by `separator` into as few lines of at most `width` cells as possible. */
export function flow(pieces: readonly string[], separator: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const piece of pieces) {
    if (line === '') line = piece;
    else if (widthOf(line) + widthOf(separator) + widthOf(piece) <= width) line += separator + piece;
    else {
      lines.push(line);
      line = piece;
    }
  }
  if (line !== '') lines.push(line);
  return lines;
}

/** Breaks a text at blanks into lines of at most `width` cells; a longer word stays whole. */
export function wrap(text: string, width: number): string[] {
  return flow(
    text.split(' ').filter((word) => word !== ''),
    ' ',
    width,
  );
}
