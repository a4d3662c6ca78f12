import { writeFileSync } from 'node:fs';
import type { Event } from '@cobbler/agent';
import { whyUnreadable } from '../config/attachment.ts';
import { styleFor } from '../terminal/style.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { pastLines } from '../view/history-lines.ts';
import type { ToolCallList } from '../view/tool-calls.ts';

/**
 * Writes a conversation into a new file, for its owner alone: the events as JSON lines where the name ends in
 * `.jsonl`, else what was said and done as Markdown.
 * @throws UsageError when it is there already or cannot be written.
 */
export function saveConversation(path: string, events: readonly Event[], calls: ToolCallList): void {
  const text = path.endsWith('.jsonl')
    ? events.map((event) => `${JSON.stringify(event)}\n`).join('')
    : markdownOf(events, calls);
  try {
    writeFileSync(path, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    const why = isThere ? 'already exists' : whyUnreadable(error).replace('read', 'written');
    throw new UsageError(`${path} ${why}.`, 'Choose another name: /save FILE');
  }
}

function markdownOf(events: readonly Event[], calls: ToolCallList): string {
  const plain = styleFor({ color: false, unicode: true, tty: false });
  const style = { ...plain, marks: { ...plain.marks, prompt: '>' } };
  const view = { style, columns: 200, tty: false, verbose: false };
  return `${pastLines(events, calls, view).join('\n').trim()}\n`;
}
