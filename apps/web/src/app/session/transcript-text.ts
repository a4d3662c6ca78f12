import type { ConversationItem } from '@cobbler/agent/events';
import { outcomeOf, resultText, subjectOf } from './call-text.ts';

/** Returns a conversation as Markdown for copying. */
export function transcriptOf(title: string, items: readonly ConversationItem[]): string {
  const blocks = items.flatMap((item) => {
    if (item.kind === 'note') return item.what.type === 'finished' ? [`_${item.what.event.status}_`] : [];
    if (item.kind === 'user') return [`## You\n\n${textsIn(item.message.content)}`];
    const calls = item.calls.map((call) => {
      const head = `**${call.part.toolName}** \`${subjectOf(call)}\` ${outcomeOf(call)}`;
      return `${head}\n\n${codeBlock(resultText(call))}`;
    });
    return [[textsIn(item.parts), ...calls].filter((text) => text !== '').join('\n\n')];
  });
  return `# ${title}\n\n${blocks.filter((block) => block !== '').join('\n\n')}\n`;
}

function textsIn(parts: readonly { readonly type: string; readonly text?: string }[]): string {
  return parts.flatMap(({ type, text }) => (type === 'text' && text !== undefined ? text : [])).join('\n\n');
}

/** Wraps text in a fence that is longer than any inside it. */
function codeBlock(text: string): string {
  const maxRun = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(maxRun + 1);
  return text === '' ? '' : `${fence}\n${text.trimEnd()}\n${fence}`;
}
