import { writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Event } from '@cobbler/agent';
import { readFailure } from '../config/attachment.ts';
import { shortId } from '../session/find-session.ts';
import { ageOf, sessionTable } from '../session/session-lines.ts';
import { visible } from '../terminal/escape.ts';
import { plural } from '../terminal/format.ts';
import { oneLine } from '../terminal/one-line.ts';
import { styleFor } from '../terminal/style.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { pastLines } from '../view/history-lines.ts';
import { ToolCallList } from '../view/tool-calls.ts';
import type { CommandContext } from './slash-command.ts';

/** Continues in a copy of the session. */
export async function fork({ conversation, adopt, say, style }: CommandContext, at: string): Promise<void> {
  const upToSeq = at === '' ? undefined : Number(at);
  if (upToSeq !== undefined && !Number.isInteger(upToSeq)) {
    throw new UsageError(`/fork needs an event number, not ${JSON.stringify(at)}.`, 'For example: /fork 12');
  }
  if (conversation.ledger.seq === 0) throw new UsageError('There are no messages to copy yet.');
  const from = conversation.harness.sessionId;
  const harness = await conversation.harness.fork(upToSeq === undefined ? {} : { upToSeq });
  await adopt(harness);
  say([style.dim(`session ${shortId(harness.sessionId)} is a copy of ${shortId(from)}, which is unchanged`)]);
}

/** Lists the sessions. */
export async function sessions({ host, say, style, columns }: CommandContext): Promise<void> {
  const rows = await host.sessions();
  if (rows.length === 0) return say([style.dim('No sessions are saved.')]);
  say(sessionTable(rows.slice(0, 20), Date.now(), style, columns() - 2).map((line) => `  ${line}`));
}

/** Continues another session. */
export async function resume(
  { host, pick, open, conversation }: CommandContext,
  given: string,
): Promise<void> {
  const all = await host.sessions();
  const rows = all.filter(({ info }) => info.id !== conversation.harness.sessionId);
  if (given !== '') {
    const found = rows.filter(({ info }) => info.id.startsWith(given));
    const [one] = found;
    if (one === undefined)
      throw new UsageError(
        `No other session has an id that starts with ${JSON.stringify(given)}.`,
        'See: /sessions',
      );
    if (found.length > 1)
      throw new UsageError(
        `The ids of ${found.length} sessions start with ${JSON.stringify(given)}.`,
        'Use more characters of the id. To list the sessions: /sessions',
      );
    await open(one.info.id);
    return;
  }
  if (rows.length === 0) throw new UsageError('There is no other session.');
  const items = rows.map(({ info, folder = '' }) => ({
    name: shortId(info.id),
    text: [ageOf(info.updatedAt, Date.now()), info.status, oneLine(info.title), oneLine(folder)]
      .filter((fact) => fact !== '')
      .join(' · '),
    fills: info.id,
  }));
  pick('continue', items, open);
}

/** Writes the conversation to a file. */
export async function save({ host, conversation, say, style }: CommandContext, given: string): Promise<void> {
  const { sessionId } = conversation.harness;
  const file = given || `session-${shortId(sessionId)}.md`;
  const events = await host.past(sessionId);
  saveConversation(resolve(host.folder, file), events, new ToolCallList(host.known));
  say([style.dim(`${plural(events.length, 'event')} written to ${visible(file)}`)]);
}

/** Copies the last response to the clipboard. */
export function copy({ conversation, copy, say, style }: CommandContext): void {
  const { lastAnswer } = conversation.ledger;
  if (lastAnswer === '') throw new UsageError('There is no response yet.');
  copy(lastAnswer);
  say([
    style.dim(
      `asked the terminal to copy ${plural(lastAnswer.length, 'character')} to the clipboard; some terminals ignore this`,
    ),
  ]);
}

/**
 * Writes a conversation to a new file that only its owner can read: the events as JSON Lines if the name ends in
 * `.jsonl`, otherwise the messages and calls as Markdown.
 * @throws UsageError if the file exists or cannot be written.
 */
function saveConversation(path: string, events: readonly Event[], calls: ToolCallList): void {
  const text = path.endsWith('.jsonl')
    ? events.map((event) => `${JSON.stringify(event)}\n`).join('')
    : markdownOf(events, calls);
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const why = code === 'EEXIST' ? 'already exists' : readFailure(error).replace('read', 'written');
    const what = code === 'ENOENT' ? `The directory ${dirname(path)}` : path;
    throw new UsageError(`${what} ${why}.`, 'Choose another name: /save FILE');
  }
}

function markdownOf(events: readonly Event[], calls: ToolCallList): string {
  const plain = styleFor({ color: false, unicode: true, tty: false });
  const style = { ...plain, marks: { ...plain.marks, prompt: '>' } };
  const view = { style, columns: 200, tty: false, verbose: false };
  return `${pastLines(events, calls, view).join('\n').trim()}\n`;
}
