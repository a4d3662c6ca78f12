import { ageOf } from '../session/session-lines.ts';
import type { Restoration } from '../session/undo-history.ts';
import { plural } from '../terminal/format.ts';
import { oneLine } from '../terminal/one-line.ts';
import { clip } from '../terminal/text-width.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { diffLines, diffSize } from '../view/diff-lines.ts';
import type { PromptRecord } from '../view/ledger.ts';
import type { CommandContext } from './slash-command.ts';

const maxDiffLines = 16;

/** Undoes the last prompt after a question: restores the files and continues in a copy that ends before the prompt. */
export async function undo(commandContext: CommandContext): Promise<void> {
  const [run, restorations] = await prepare(-1, commandContext);
  const files = restorations.length > 0 ? ` and ${plural(restorations.length, 'file')}` : '';
  commandContext.ask(`undo this prompt${files}`, () => goBack(run, restorations, true, commandContext));
}

/** Lets the user choose a prompt, and whether the conversation, the files or both go back to before it. */
export function rewind(commandContext: CommandContext): void {
  const { conversation, pick } = commandContext;
  const { runs } = conversation.ledger;
  if (runs.length === 0) throw nothingToUndo();
  const items = runs.map(({ prompt, time, changes }, index) => {
    const files = new Set(changes.map(({ path }) => path)).size;
    const facts = [ageOf(time, Date.now()), ...(files === 0 ? [] : [plural(files, 'file')])];
    return { name: oneLine(prompt.split('\n')[0] ?? ''), text: facts.join(' · '), fills: String(index) };
  });
  pick('go back to before', items.reverse(), (index) => chooseScope(Number(index), commandContext));
}

async function chooseScope(index: number, commandContext: CommandContext): Promise<void> {
  const [run, restorations] = await prepare(index, commandContext);
  const back = { name: 'conversation', text: 'every file stays as it is' };
  const files = { name: 'files', text: 'the messages stay as they are' };
  const both = { name: 'both' };
  commandContext.pick(
    'go back with',
    restorations.length === 0 ? [back] : [both, back, files],
    async (scope) => {
      const isForked = scope !== 'files';
      await goBack(run, scope === 'conversation' ? [] : restorations, isForked, commandContext);
      if (isForked) commandContext.draft(run.prompt);
    },
  );
}

/** Takes back the last undo or rewind, unless the conversation has continued since. */
export async function redo({ conversation, host, ...commandContext }: CommandContext): Promise<void> {
  const { say, ask, open, style } = commandContext;
  const { sessionId } = conversation.harness;
  const last = host.undo.undone(sessionId);
  if (last === undefined || last.seq !== conversation.ledger.seq) {
    const advice = 'The session before an undo or a rewind is still available: /sessions';
    throw new UsageError('There is nothing to redo.', advice);
  }
  const files = await host.undo.restorations(sessionId, new Set([last.runId]));
  const perform = async () => {
    await host.undo.redo(sessionId, last, files);
    if (last.from !== sessionId) {
      host.local?.background?.move(sessionId, last.from);
      await open(last.from, { isQuiet: true });
    }
    say([style.dim(`redone${files.length === 0 ? '' : `, ${plural(files.length, 'file')} restored`}`)]);
  };
  const changed = files.filter(({ isChanged }) => isChanged);
  if (changed.length === 0) return await perform();
  say(changed.map(({ path }) => `  ${style.bold(oneLine(path))} ${style.yellow(lost)}`));
  ask('redo', perform);
}

const lost = 'changed by another program since; that change will be lost too';

/** Shows what going back to before a prompt would change. Returns the prompt, with what followed, and its files. */
async function prepare(
  index: number,
  commandContext: CommandContext,
): Promise<[run: PromptRecord, restorations: readonly Restoration[]]> {
  const { conversation, host, say } = commandContext;
  const runs = conversation.ledger.runs.slice(index);
  const [first] = runs;
  if (first === undefined) throw nothingToUndo();
  const runIds = new Set(runs.flatMap((run) => [...run.runIds]));
  const run = { ...first, runIds, changes: runs.flatMap(({ changes }) => changes) };
  const restorations = await host.undo.restorations(conversation.harness.sessionId, runIds);
  say(preview(run, restorations, commandContext));
  return [run, restorations];
}

function preview(
  run: PromptRecord,
  restorations: readonly Restoration[],
  { style, columns, host }: CommandContext,
): string[] {
  const room = columns() - 8;
  const lines = [
    `  ${style.cyan(style.marks.prompt)} ${clip(oneLine(run.prompt), room, style.marks.ellipsis)}`,
  ];
  for (const { path, before, isChanged } of restorations) {
    const diffs = run.changes.filter((change) => change.path === path).map(({ diff }) => diff);
    const sizes = diffs.map(diffSize);
    const [added, removed] = [sum(sizes.map((size) => size.added)), sum(sizes.map((size) => size.removed))];
    const what =
      before === null
        ? 'will be deleted: it did not exist before'
        : `will be restored, undoing +${added} -${removed}`;
    lines.push(`  ${style.bold(oneLine(path))} ${what}`);
    if (isChanged) lines.push(`    ${style.yellow(lost)}`);
    for (const diff of diffs)
      lines.push(...diffLines(diff, style, room, maxDiffLines).map((line) => `      ${line}`));
  }
  if (host.local === undefined) lines.push(style.dim('  files on the server will not be changed'));
  else lines.push(style.dim('  effects of commands will not be undone'));
  return lines;
}

async function goBack(
  run: PromptRecord,
  restorations: readonly Restoration[],
  isForked: boolean,
  { conversation, host, adopt, open, say, style }: CommandContext,
): Promise<void> {
  const same = { keepsCost: true } as const;
  const { harness } = conversation;
  let next = conversation;
  if (isForked)
    next =
      run.seq > 1
        ? await adopt(await harness.fork({ upToSeq: run.seq - 1 }), same)
        : await open(undefined, same);
  if (isForked) host.local?.background?.move(harness.sessionId, next.harness.sessionId);
  await host.undo.undo(restorations, harness.sessionId, next.harness.sessionId, next.ledger.seq);
  const restored = restorations.length === 0 ? '' : `, ${plural(restorations.length, 'file')} restored`;
  say([style.dim(`undone${restored}; to take this back: /redo`)]);
}

function nothingToUndo(): UsageError {
  return new UsageError('There is nothing to undo.');
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
