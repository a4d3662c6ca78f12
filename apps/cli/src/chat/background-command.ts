import type { BackgroundCommand } from '@cobbler/tools';
import { visible } from '../terminal/escape.ts';
import { formatMs } from '../terminal/format.ts';
import { oneLine } from '../terminal/one-line.ts';
import { clip } from '../terminal/text-width.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { moreLines } from '../view/diff-lines.ts';
import { runningCommands } from './facts.ts';
import type { ChatHost } from './host.ts';
import { localParts } from './host.ts';
import type { CommandContext } from './slash-command.ts';

const maxLines = 200;

/** Lists the commands in the background, shows the output of one, or stops it. */
export async function background(context: CommandContext, operand: string): Promise<void> {
  const { host, conversation, say, style, columns } = context;
  const { background: commands } = localParts(
    host,
    'runs the commands',
    'other tools: cobbler serve --tools NAMES',
  );
  const { sessionId } = conversation.harness;
  const all = commands?.list(sessionId) ?? [];
  const line = ({ id, status, durationMs, command }: BackgroundCommand) =>
    `  ${style.bold(id)}  ${oneLine(status)}  ${formatMs(durationMs)}  ${oneLine(command)}`;
  if (operand === '' && all.length === 0)
    return say([style.dim('No command was started in the background.')]);
  if (operand === '') return say(all.map((one) => clip(line(one), columns() - 1, style.marks.ellipsis)));
  const [, stops, given = ''] = /^(stop(?:\s+|$))?(\S*)$/.exec(operand) ?? [];
  const running = all.filter(({ status }) => status === 'running').map((one) => one.id);
  const id = stops !== undefined && given === '' && running.length <= 1 ? (running[0] ?? '') : given;
  if (stops !== undefined && id === '') {
    if (running.length === 0) throw new UsageError('No command is running in the background.');
    throw new UsageError(
      `${running.length} commands are running in the background: ${running.join(', ')}.`,
      `Name the one to stop: /background stop ${running[0]}`,
    );
  }
  const found = all.find((one) => one.id === id);
  if (commands === undefined || found === undefined) {
    throw new UsageError(
      `There is no command ${JSON.stringify(id === '' ? operand : id)} in the background.`,
      'To list them: /background',
    );
  }
  if (stops !== undefined) {
    await commands.stop(sessionId, id);
    return say([line(commands.get(sessionId, id))]);
  }
  const lines = visible(found.output).trimEnd().split('\n');
  const left = lines.length - maxLines;
  say([
    line(found),
    ...(left > 0 ? [style.dim(`    ${moreLines(left)}`)] : []),
    ...lines.slice(-maxLines).map((one) => `    ${one}`),
  ]);
}

/** Calls `onChange` when a command in the background has started or ended. Returns a function that stops this. */
export function watchCommands(host: ChatHost, sessionId: () => string, onChange: () => void): () => void {
  let shown = runningCommands(host, sessionId());
  const stop = host.local?.background?.watch(() => {
    const count = runningCommands(host, sessionId());
    if (count === shown) return;
    shown = count;
    onChange();
  });
  return stop ?? (() => {});
}
