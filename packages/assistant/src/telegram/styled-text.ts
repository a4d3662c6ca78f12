/** The style of a run of text. Absent means off. */
export interface TextStyle {
  readonly bold?: true;
  readonly italic?: true;
  readonly strike?: true;
  /** Inline code. Telegram supports no other style on or around it except a quote. */
  readonly code?: true;
  /** The language of a code block, which may be empty. */
  readonly pre?: string;
  /** Target of a link: http or https. */
  readonly href?: string;
  readonly quote?: true;
}

/** Text with one style. */
export interface TextRun {
  readonly text: string;
  readonly style: TextStyle;
}

export const plain: TextStyle = {};

/** Returns the style of the context of a text, which code and the space between paragraphs keep. */
export function surroundings(style: TextStyle): TextStyle {
  return style.quote === true ? { quote: true } : plain;
}

export function sameStyle(a: TextStyle, b: TextStyle): boolean {
  return (
    a.bold === b.bold &&
    a.italic === b.italic &&
    a.strike === b.strike &&
    a.code === b.code &&
    a.pre === b.pre &&
    a.href === b.href &&
    a.quote === b.quote
  );
}

/** Joins adjacent runs of the same style and removes empty ones. */
export function mergeRuns(runs: readonly TextRun[]): TextRun[] {
  const result: TextRun[] = [];
  for (const run of runs) {
    const last = result.at(-1);
    if (run.text === '') continue;
    if (last !== undefined && sameStyle(last.style, run.style))
      result[result.length - 1] = { text: last.text + run.text, style: last.style };
    else result.push(run);
  }
  return result;
}

export function visibleText(runs: readonly TextRun[]): string {
  return runs.map(({ text }) => text).join('');
}

/** Returns the runs between two offsets of the visible text. */
export function sliceRuns(runs: readonly TextRun[], start: number, end: number): TextRun[] {
  const result: TextRun[] = [];
  let offset = 0;
  for (const { text, style } of runs) {
    const part = text.slice(Math.max(start - offset, 0), Math.max(end - offset, 0));
    if (part !== '') result.push({ text: part, style });
    offset += text.length;
    if (offset >= end) break;
  }
  return result;
}

/** Whitespace, control characters, lone combining marks and invisible letters: to Telegram, such a message is empty. */
const unseen = /^[\s\p{C}\p{M}\u115f\u1160\u2800\u3164\uffa0]*$/u;

export function isBlank(text: string): boolean {
  return unseen.test(text);
}
