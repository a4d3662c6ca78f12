import { oneLine } from '../terminal/escape.ts';
import { plural } from '../terminal/format.ts';
import { clip } from '../terminal/text-width.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { diffLines, diffSize } from '../view/diff-lines.ts';
import type { PromptRecord } from '../view/ledger.ts';
import type { CommandContext } from './slash-command.ts';
import type { Restoration } from './undo-history.ts';

const diffMost = 16;

/** Undoes the last prompt: shows the changes, asks, restores the files and continues in a copy that ends before it. */
export async function undo(desk: CommandContext): Promise<void> {
  const { conversation, host, ask } = desk;
  const run = conversation.ledger.runs.at(-1);
  if (run === undefined) throw new UsageError('There is nothing to undo.');
  const { sessionId } = conversation.harness;
  const restorations = (await host.local?.undo.restorations(sessionId, run.runIds)) ?? [];
  desk.say(preview(run, restorations, desk));
  ask(`undo this prompt${restorations.length > 0 ? ` and ${plural(restorations.length, 'file')}` : ''}`, () =>
    takeBack(run, restorations, desk),
  );
}

function preview(run: PromptRecord, restorations: readonly Restoration[], desk: CommandContext): string[] {
  const { style, columns, host } = desk;
  const room = columns() - 8;
  const lines = [
    `  ${style.cyan(style.marks.prompt)} ${clip(oneLine(run.prompt), room, style.marks.ellipsis)}`,
  ];
  for (const { path, before, isChanged } of restorations) {
    const diffs = run.changes.filter((change) => change.path === path).map(({ diff }) => diff);
    const sizes = diffs.map(diffSize);
    const [added, removed] = [sum(sizes.map((size) => size.added)), sum(sizes.map((size) => size.removed))];
    const what =
      before === null ? 'will be deleted: it was created' : `restored, without +${added} -${removed}`;
    lines.push(`  ${style.bold(oneLine(path))} ${what}`);
    if (isChanged)
      lines.push(`    ${style.yellow('changed by another program since; that change is lost too')}`);
    for (const diff of diffs)
      lines.push(...diffLines(diff, style, room, diffMost).map((line) => `      ${line}`));
  }
  if (host.local === undefined) lines.push(style.dim('  files on the server are not changed'));
  else lines.push(style.dim('  effects of commands are not undone'));
  return lines;
}

async function takeBack(
  run: PromptRecord,
  restorations: readonly Restoration[],
  { conversation, host, adopt, open, say, style }: CommandContext,
): Promise<void> {
  const same = { keepsCost: true } as const;
  await host.local?.undo.restore(restorations);
  if (run.seq > 1) await adopt(await conversation.harness.fork({ upToSeq: run.seq - 1 }), same);
  else await open(undefined, same);
  const files = restorations.length === 0 ? '' : `, ${plural(restorations.length, 'file')} restored`;
  say([style.dim(`undone${files}; the previous session is still available: /sessions`)]);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
