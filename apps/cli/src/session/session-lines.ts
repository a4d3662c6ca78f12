import type { SessionInfo, SessionStatus } from '@cobbler/agent';
import { formatCount, formatUsd, plural } from '../terminal/format.ts';
import { oneLine } from '../terminal/one-line.ts';
import type { Style } from '../terminal/style.ts';
import { clip, padEnd, widthOf } from '../terminal/text-width.ts';
import { shortId } from './find-session.ts';

/** A session with its directory for display; absent if it was not recorded. */
export interface ListedSession {
  readonly info: SessionInfo;
  readonly folder?: string;
}

const minTitle = 16;

/**
 * Returns sessions as a table: id, status, age, cost, title, directory and model. Columns that do not fit are dropped
 * from the right.
 */
export function sessionTable(
  rows: readonly ListedSession[],
  now: number,
  style: Style,
  columns: number,
): string[] {
  const cells = rows.map(({ info, folder = '' }) => ({
    id: shortId(info.id),
    status: info.status,
    age: ageOf(info.updatedAt, now),
    cost: info.usd === undefined ? '' : formatUsd(info.usd),
    title: oneLine(info.title) || '(no text)',
    folder: oneLine(folder),
    model: oneLine(info.model ?? ''),
  }));
  const width = (name: keyof (typeof cells)[number]) =>
    Math.max(0, ...cells.map((cell) => widthOf(cell[name])));
  const widths = { id: width('id'), status: width('status'), age: width('age'), cost: width('cost') };
  const left = widths.id + widths.status + widths.age + widths.cost + 8;
  const folderWidth = Math.min(width('folder'), 32);
  const hasFolder = folderWidth > 0 && columns - left - folderWidth - 2 >= minTitle;
  const rest = columns - 1 - left - (hasFolder ? folderWidth + 2 : 0);
  const modelWidth = Math.min(width('model'), 24);
  const hasModel = hasFolder && modelWidth > 0 && rest - modelWidth - 2 >= minTitle;
  const room = Math.max(minTitle, rest - (hasModel ? modelWidth + 2 : 0));
  const titleWidth = Math.min(width('title'), room);
  return cells.map(({ id, status, age, cost, title, folder, model }) => {
    const facts = [
      style.bold(padEnd(id, widths.id)),
      paintOf(status, style)(padEnd(status, widths.status)),
      age.padStart(widths.age),
      cost.padStart(widths.cost),
      padEnd(clip(title, titleWidth, style.marks.ellipsis), hasFolder ? titleWidth : 0),
      ...(hasFolder ? [style.dim(padEnd(clip(folder, folderWidth, style.marks.ellipsis), folderWidth))] : []),
      ...(hasModel ? [style.dim(clip(model, modelWidth, style.marks.ellipsis))] : []),
    ];
    return facts.join('  ').trimEnd();
  });
}

/** Returns all facts about a session, one per line. */
export function sessionFacts({ info, folder }: ListedSession, now: number, style: Style): string[] {
  const facts: (readonly [name: string, text: string])[] = [
    ['title', oneLine(info.title)],
    ['status', info.status],
    ['changed', `${ageOf(info.updatedAt, now)} (${info.updatedAt})`],
    ['created', info.createdAt],
    ['folder', oneLine(folder ?? '')],
    ['model', oneLine(info.model ?? '')],
    [
      'work',
      [
        plural(info.prompts, 'prompt'),
        plural(info.answers, 'answer'),
        plural(info.toolCalls, 'tool'),
        plural(info.events, 'event'),
      ].join(', '),
    ],
    ['tokens', `${formatCount(info.inputTokens)} in, ${formatCount(info.outputTokens)} out`],
    ['cost', info.usd === undefined ? 'unknown' : formatUsd(info.usd)],
    ['fork of', info.parent === undefined ? '' : `${info.parent.sessionId} at event ${info.parent.seq}`],
  ];
  const shown = facts.filter(([, text]) => text !== '');
  return [`${style.bold('session')}  ${info.id}`, ...shown.map(([name, text]) => `${name.padEnd(9)}${text}`)];
}

/** Returns the age in one unit: `now`, `5 m`, `2 h`, `3 d`. */
export function ageOf(time: string, now: number): string {
  const minutes = Math.floor((now - Date.parse(time)) / 60_000);
  if (!(minutes >= 1)) return 'now';
  if (minutes < 60) return `${minutes} m ago`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} d ago`;
}

function paintOf(status: SessionStatus, style: Style): (text: string) => string {
  if (status === 'complete') return style.green;
  if (status === 'failed' || status === 'refusal') return style.red;
  return status === 'running' ? style.cyan : style.yellow;
}
