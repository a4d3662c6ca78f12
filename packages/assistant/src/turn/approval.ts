import type { Json } from '@cobbler/agent';
import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import { approvalText, limitQuestion } from '@cobbler/agent/events';
import type { Button, Channel, ChannelFile, MessagePart } from '../channel/channel.ts';
import { allowNo, allowYes, mayIUse, notAllShown, tooLongToShow } from './messages.ts';

/** The question about a call, for the user. */
export interface ApprovalQuestion {
  /** The messages that show the call, in order. */
  readonly parts: readonly MessagePart[];
  /** The complete call, if the messages do not show it. */
  readonly file?: ChannelFile;
  /** Buttons under the last message, shown after all messages have arrived. Absent: the call cannot be allowed here. */
  readonly buttons?: readonly Button[];
  /** Sent last if Allow is not offered, with {@link ApprovalQuestion.denyButtons} under it. */
  readonly withheld: MessagePart;
  readonly denyButtons: readonly Button[];
}

/** Maximum number of messages of one question. */
const maxParts = 3;

/** Numbers of characters of a call per message, largest first, because channels have different message limits. */
const partLengths = [3500, 1800, 700];

/**
 * Splits a call into messages that show all of it, exactly as it would run. A call that needs more than three
 * messages, or that the channel would split, is sent as a file and can only be denied: a user must not allow what is
 * not shown.
 */
export function approvalQuestion(
  channel: Pick<Channel, 'pieces'>,
  request: ApprovalRequestedEvent,
): ApprovalQuestion {
  const { toolName, approvalId, limit } = request;
  if (limit !== undefined) {
    const { allow, deny } = limitQuestion(limit);
    const stop = { label: deny, data: `deny:${approvalId}` };
    const [text = { text: '' }] = channel.pieces(approvalText(request));
    return {
      parts: [text],
      buttons: [{ label: allow, data: `allow:${approvalId}` }, stop],
      withheld: text,
      denyButtons: [stop],
    };
  }
  const text = approvalText(request);
  const deny = { label: allowNo, data: `deny:${approvalId}` };
  const shown = partLengths.map((length) => shownWhole(channel, toolName, partsOf(text, length)));
  const whole = shown.find((parts) => parts !== undefined);
  const firstPart = (markdown: string): MessagePart => channel.pieces(markdown)[0] ?? { text: markdown };
  if (whole !== undefined) {
    const allow = { label: allowYes, data: `allow:${approvalId}` };
    return { parts: whole, buttons: [allow, deny], withheld: firstPart(notAllShown), denyButtons: [deny] };
  }
  return {
    parts: [firstPart(mayIUse(toolName))],
    file: { name: 'call.txt', type: 'text/plain', text },
    withheld: firstPart(tooLongToShow(text.length)),
    denyButtons: [deny],
  };
}

/** Returns each part as one message that shows it unchanged; undefined if there are too many or the channel changes one. */
function shownWhole(
  channel: Pick<Channel, 'pieces'>,
  toolName: string,
  parts: readonly string[],
): readonly MessagePart[] | undefined {
  if (parts.length > maxParts) return undefined;
  const shown = parts.map((part, index) => {
    const markdown = index === 0 ? `${mayIUse(toolName)}\n\n${codeBlock(part)}` : codeBlock(part);
    const [message, ...more] = channel.pieces(markdown);
    return message?.text.includes(part) === true && more.length === 0 ? message : undefined;
  });
  const whole = shown.filter((message) => message !== undefined);
  return whole.length === parts.length ? whole : undefined;
}

/** Splits a text into parts of limited UTF-16 code units, after a line if the part is then long enough. */
function partsOf(text: string, length: number): string[] {
  const parts: string[] = [];
  let at = 0;
  while (text.length - at > length && parts.length <= maxParts) {
    const line = text.lastIndexOf('\n', at + length);
    const isLine = line > at + length / 2;
    // Never between the halves of a surrogate pair.
    const end = isLine ? line : at + length - (/[\ud800-\udbff]/.test(text.charAt(at + length - 1)) ? 1 : 0);
    parts.push(text.slice(at, end));
    at = isLine ? end + 1 : end;
  }
  return [...parts, text.slice(at)];
}

/** Returns the prefix of the keys of all parts of a question. */
export function questionKeys(runId: string, approvalId: string): string {
  return `${runId}/ask/${approvalId}/`;
}

/** Returns the decision of a button press, if the button belongs to a question about a call. */
export function approvalDecision(
  data: string,
): { readonly approvalId: string; readonly decision: Json } | undefined {
  const match = /^(allow|deny):([A-Za-z0-9._-]{1,56})$/.exec(data);
  if (match?.[2] === undefined) return undefined;
  const decision =
    match[1] === 'allow' ? { decision: 'allow' } : { decision: 'deny', message: 'A user denied this call.' };
  return { approvalId: match[2], decision };
}

/** Formats a call as a code block. It is model output, so it must not be able to end its block. */
function codeBlock(text: string): string {
  const maxRun = [...text.matchAll(/`+/g)].reduce((max, [run]) => Math.max(max, run.length), 2);
  const fence = '`'.repeat(maxRun + 1);
  return `${fence}\n${text}\n${fence}`;
}
