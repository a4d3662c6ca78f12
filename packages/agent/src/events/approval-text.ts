import { withArgumentErrors } from '../values/errors.ts';
import type { ApprovalRequestedEvent } from './event.ts';
import { limitQuestion } from './limit-question.ts';
import { visibleText } from './visible-text.ts';

/** The fields of a call that the user sees before allowing it. */
export type ShownCall = Pick<
  ApprovalRequestedEvent,
  'toolName' | 'arguments' | 'diff' | 'summary' | 'mustAsk' | 'subject' | 'after' | 'isRepeated' | 'limit'
>;

/** Arguments in which every letter matters: commands, paths and addresses. */
const nameArguments: ReadonlySet<string> = new Set([
  ...['command', 'cwd', 'directory', 'file_path', 'host', 'path', 'url'],
]);

/** Longest single-line value that is always shown itself, so that a chance match in the diff does not hide it. */
const longValue = 80;

/**
 * Returns the arguments of a call as lines that contain only visible characters: strings after `|`, everything else
 * as JSON. The lines before them say why the user is asked again, and name the calls that run first. Every argument is
 * shown, except that a line refers to the diff for a long string that the diff contains in full, and that strings in
 * `elsewhere`, which are already shown, are omitted.
 */
export function argumentLines(call: ShownCall, elsewhere: readonly string[] = []): string[] {
  return withArgumentErrors('argumentLines', () => {
    if (call.limit !== undefined) return [];
    const sides = call.diff === undefined ? [] : sidesOf(call.diff);
    const context = call.isRepeated === true ? ['This call would no longer do what you allowed.'] : [];
    for (const line of call.after ?? []) context.push(`after ${barLine(visibleText(line, 'name'))}`);
    const given = Object.entries(call.arguments).flatMap(([name, value]) => {
      const title = visibleText(JSON.stringify(name).slice(1, -1), 'name');
      if (typeof value !== 'string') return jsonLines(title, value);
      if (elsewhere.includes(value)) return [];
      const use = value === call.subject || nameArguments.has(name) ? 'name' : undefined;
      const isLong = value.includes('\n') || value.length > longValue;
      if (isLong && use === undefined && sides.some((side) => side.includes(value)))
        return [`${title}: see the diff`];
      const [first = '', ...rest] = visibleText(value, use).split('\n').map(barLine);
      return rest.length === 0
        ? [`${title} ${first}`]
        : [`${title}:`, ...[first, ...rest].map((line) => `  ${line}`)];
    });
    return [...context, ...given];
  });
}

/**
 * Returns a call as one text: tool, arguments, diff. The text contains everything that an approval of the call
 * allows, or the question about a limit that was reached. A client that cannot show all of it must not offer to
 * allow the call.
 */
export function approvalText(call: ShownCall): string {
  return withArgumentErrors('approvalText', () => {
    if (call.limit !== undefined) return visibleText(limitQuestion(call.limit).text, 'name');
    const summary = call.summary === undefined ? '' : `  ${visibleText(call.summary, 'name')}`;
    const why = call.mustAsk === undefined ? [] : [visibleText(call.mustAsk, 'name')];
    const lines = [`${visibleText(call.toolName, 'name')}${summary}`, ...why, ...argumentLines(call)];
    const diff = call.diff === undefined ? [] : ['', visibleText(call.diff, 'diff').trimEnd()];
    return [...lines, ...diff].join('\n');
  });
}

/** Formats a line of a string. Spaces and tabs at its end are invisible and some terminals drop them, so they are escaped. */
function barLine(line: string): string {
  const seen = line.replace(/[ \t]+$/, (blanks) =>
    blanks.replaceAll(' ', '\\u{20}').replaceAll('\t', '\\u{9}'),
  );
  return seen === '' ? '|' : `| ${seen}`;
}

function jsonLines(title: string, value: unknown): string[] {
  const [first = '', ...rest] = visibleText(JSON.stringify(value, null, 2) ?? 'null').split('\n');
  return [`${title}: ${first}`, ...rest.map((line) => `  ${line}`)];
}

/** Returns the text before and the text after each hunk of a unified diff, up to the point where the diff is cut off. */
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
