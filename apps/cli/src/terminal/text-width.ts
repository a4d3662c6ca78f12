let segmenterCache: Intl.Segmenter | undefined;

/** Creates the segmenter for the first text that needs it, because loading its Unicode tables takes time. */
function segmenter(): Intl.Segmenter {
  segmenterCache ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenterCache;
}

/** Characters that terminals draw two cells wide: East Asian wide and full-width, and emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f/u;

/** Characters that take no cell of their own: combining marks and format characters. */
const empty = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

/** Strings in which each code unit is a character of one cell: ASCII, Latin letters, and the symbols of a report. */
const plain = /^[\x20-\x7e\xa1-\xac\xae-\u024f\u2013-\u2026\u25a0\u2713\u2717\u2800-\u28ff]*$/;

/** Returns the number of terminal cells of a string without escape sequences and line breaks. */
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

/** Returns a string cut to at most `width` cells; `ellipsis` marks a cut. */
export function clip(text: string, width: number, ellipsis: string): string {
  if (widthOf(text) <= width) return text;
  const room = width - widthOf(ellipsis);
  if (room <= 0) return ellipsis.slice(0, Math.max(0, width));
  return head(text, room) + ellipsis;
}

/** Returns the longest prefix of a string that fits into `width` cells. */
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

/** Splits a string into parts of at most `width` cells. */
export function splitText(text: string, width: number): string[] {
  const found: string[] = [];
  // Measure only as much of a long line as one part can hold.
  const maxUnits = width * 4;
  let at = 0;
  while (text.length - at > maxUnits || widthOf(text.slice(at)) > width) {
    const part = head(text.slice(at, at + maxUnits), width) || text.slice(at, at + 1);
    found.push(part);
    at += part.length;
  }
  return [...found, text.slice(at)];
}

/** Pads a string with spaces to `width` cells. */
export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

/** Joins strings with `separator` into as few lines of at most `width` cells as possible. */
export function flow(parts: readonly string[], separator: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const part of parts) {
    if (line === '') line = part;
    else if (widthOf(line) + widthOf(separator) + widthOf(part) <= width) line += separator + part;
    else {
      lines.push(line);
      line = part;
    }
  }
  if (line !== '') lines.push(line);
  return lines;
}

/** Breaks a string at spaces into lines of at most `width` cells; longer words are not broken. */
export function wrap(text: string, width: number): string[] {
  return flow(
    text.split(' ').filter((word) => word !== ''),
    ' ',
    width,
  );
}
