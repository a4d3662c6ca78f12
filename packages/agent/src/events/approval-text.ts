import type { ApprovalRequestedEvent } from './event.ts';

/** What is shown of a call before the user may allow it. */
export type ShownCall = Pick<
  ApprovalRequestedEvent,
  'toolName' | 'arguments' | 'diff' | 'summary' | 'mustAsk'
>;

/**
 * Characters that a reader cannot see, or that change how others are seen: controls, unassigned code points, line and
 * paragraph separators, marks of direction, what fonts leave out, and blanks other than the plain one. Newline and tab
 * stay.
 */
const unseen =
  /(?![\n\t])[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2800]|(?! )\p{Zs}/gu;

/** A text in which every character can be seen: the others are written as `\u{202e}`. */
export function visibleText(text: string): string {
  return text.replace(unseen, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** A value that is shorter and has one line is always shown by its name, so that no chance match hides it. */
const longValue = 80;

/**
 * The arguments of a call as lines that leave nothing out and can all be seen: texts after `|`, all else as JSON.
 * A long text that the diff holds in full, and one that `elsewhere` says is shown already, is only named.
 */
export function argumentLines(call: ShownCall, elsewhere: readonly string[] = []): string[] {
  const sides = call.diff === undefined ? [] : sidesOf(call.diff);
  return Object.entries(call.arguments).flatMap(([name, value]) => {
    const title = visibleText(JSON.stringify(name).slice(1, -1));
    if (typeof value !== 'string') return jsonLines(title, value);
    if (elsewhere.includes(value)) return [];
    const isLong = value.includes('\n') || value.length > longValue;
    if (isLong && sides.some((side) => side.includes(value))) return [`${title}: as in the diff`];
    const [first = '', ...rest] = visibleText(value).split('\n').map(barred);
    return rest.length === 0
      ? [`${title} ${first}`]
      : [`${title}:`, ...[first, ...rest].map((line) => `  ${line}`)];
  });
}

/**
 * All of a call as one text: tool, arguments, diff. What shows this text shows everything that an approval of the call
 * allows; a place that cannot show it whole must not offer to allow.
 */
export function approvalText(call: ShownCall): string {
  const summary = call.summary === undefined ? '' : `  ${visibleText(call.summary)}`;
  const why = call.mustAsk === undefined ? [] : [visibleText(call.mustAsk)];
  const lines = [`${visibleText(call.toolName)}${summary}`, ...why, ...argumentLines(call)];
  const diff = call.diff === undefined ? [] : ['', visibleText(call.diff).trimEnd()];
  return [...lines, ...diff].join('\n');
}

/** A line of a text. Blanks at its end are invisible, and some terminals leave them out. */
function barred(line: string): string {
  const seen = line.replace(/[ \t]+$/, (blanks) =>
    blanks.replaceAll(' ', '\\u{20}').replaceAll('\t', '\\u{9}'),
  );
  return seen === '' ? '|' : `| ${seen}`;
}

function jsonLines(title: string, value: unknown): string[] {
  const [first = '', ...rest] = visibleText(JSON.stringify(value, null, 2) ?? 'null').split('\n');
  return [`${title}: ${first}`, ...rest.map((line) => `  ${line}`)];
}

/**
 * Each hunk of a unified diff as the text before and the text after it, up to where the diff is cut: nothing behind
 * that can be told apart.
 */
function sidesOf(diff: string): string[] {
  const hunks: { old: string; new: string }[] = [];
  for (const line of diff.split('\n')) {
    const hunk = hunks.at(-1);
    if (line.startsWith('@@ ')) hunks.push({ old: '', new: '' });
    else if (hunk !== undefined && !/^[-+ \\]/.test(line)) break;
    else if (hunk !== undefined && !line.startsWith('\\')) {
      const text = `${line.slice(1)}\n`;
      if (!line.startsWith('+')) hunk.old += text;
      if (!line.startsWith('-')) hunk.new += text;
    }
  }
  return hunks.flatMap((hunk) => [hunk.old, hunk.new]);
}
