import type { ApprovalRequestedEvent, Json } from '@cobbler/agent';
import type { Button } from './channel.ts';
import { allowNo, allowYes } from './words.ts';

/** Longest look at what a call would do, in characters. */
const previewLength = 1500;

/** What a person is asked about a call, with the buttons that answer it. */
export function approvalQuestion(request: ApprovalRequestedEvent): {
  readonly markdown: string;
  readonly buttons: readonly Button[];
} {
  const { toolName, subject = '', approvalId } = request;
  const what = subject === '' ? '' : `: ${code(subject)}`;
  const details = request.diff ?? String(JSON.stringify(request.arguments, null, 2));
  return {
    markdown: [`May I use **${toolName}**${what}?`, fenced(details)].join('\n\n'),
    buttons: [
      { label: allowYes, data: `allow:${approvalId}` },
      { label: allowNo, data: `deny:${approvalId}` },
    ],
  };
}

/** What a tap on such a button says, if it is one. */
export function approvalTap(data: string): { readonly approvalId: string; readonly said: Json } | undefined {
  const match = /^(allow|deny):([A-Za-z0-9._-]{1,56})$/.exec(data);
  if (match?.[2] === undefined) return undefined;
  const said =
    match[1] === 'allow'
      ? { decision: 'allow' }
      : { decision: 'deny', message: 'The person who was asked did not allow this call.' };
  return { approvalId: match[2], said };
}

/** Model output: it must not end the block that it stands in. */
function fenced(text: string): string {
  const cut = text.length > previewLength ? `${text.slice(0, previewLength)}\n…` : text;
  const longest = Math.max(2, ...[...cut.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${cut}\n${fence}`;
}

function code(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').slice(0, 200).replaceAll('`', "'");
  return `\`${line}\``;
}
