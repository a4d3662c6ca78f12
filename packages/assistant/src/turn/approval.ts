import type { Json } from '@cobbler/agent';
import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import { approvalText } from '@cobbler/agent/events';
import type { Button, Channel, ChannelFile, MessagePart } from '../channel/channel.ts';
import { allowNo, allowYes, mayIUse, notAllShown, tooLongToShow } from './messages.ts';

/** The question about a call, for a user. */
export interface ApprovalQuestion {
  /** The messages that show the call, one after another. */
  readonly pieces: readonly MessagePart[];
  /** All of the call, where the messages do not show it. */
  readonly file?: ChannelFile;
  /** Under the last message, once all of them have certainly arrived. Absent: the call cannot be allowed here. */
  readonly buttons?: readonly Button[];
  /** Sent last where Allow is not offered, with {@link ApprovalQuestion.denyButtons} under it. */
  readonly withheld: MessagePart;
  readonly denyButtons: readonly Button[];
}

/** Maximum messages of one question. */
const maxPieces = 3;

/** Characters of a call per message, the largest first: channels have different message limits. */
const pieceLengths = [3500, 1800, 700];

/**
 * Splits a call into messages that show all of it, exactly as it would run. A call that needs more than three
 * messages, or that the channel would cut, goes into a file and can only be denied: a user must not allow what is not
 * shown.
 */
export function approvalQuestion(
  channel: Pick<Channel, 'pieces'>,
  request: ApprovalRequestedEvent,
): ApprovalQuestion {
  const { toolName, approvalId } = request;
  const text = approvalText(request);
  const deny = { label: allowNo, data: `deny:${approvalId}` };
  const shown = pieceLengths.map((length) => shownWhole(channel, toolName, partsOf(text, length)));
  const whole = shown.find((pieces) => pieces !== undefined);
  const said = (markdown: string): MessagePart => channel.pieces(markdown)[0] ?? { text: markdown };
  if (whole !== undefined) {
    const allow = { label: allowYes, data: `allow:${approvalId}` };
    return { pieces: whole, buttons: [allow, deny], withheld: said(notAllShown), denyButtons: [deny] };
  }
  return {
    pieces: [said(mayIUse(toolName))],
    file: { name: 'call.txt', type: 'text/plain', text },
    withheld: said(tooLongToShow(text.length)),
    denyButtons: [deny],
  };
}

/** Each part as one message that holds it unchanged; nothing when they are too many or the channel changes one. */
function shownWhole(
  channel: Pick<Channel, 'pieces'>,
  toolName: string,
  parts: readonly string[],
): readonly MessagePart[] | undefined {
  if (parts.length > maxPieces) return undefined;
  const pieces = parts.map((part, index) => {
    const markdown = index === 0 ? `${mayIUse(toolName)}\n\n${fenced(part)}` : fenced(part);
    const [piece, ...more] = channel.pieces(markdown);
    return piece?.text.includes(part) === true && more.length === 0 ? piece : undefined;
  });
  const whole = pieces.filter((piece) => piece !== undefined);
  return whole.length === parts.length ? whole : undefined;
}

/** Splits a text into parts of limited UTF-16 units, after a line if the part is then long enough. */
function partsOf(text: string, length: number): string[] {
  const parts: string[] = [];
  let at = 0;
  while (text.length - at > length && parts.length <= maxPieces) {
    const line = text.lastIndexOf('\n', at + length);
    const isLine = line > at + length / 2;
    // Never between the halves of a character.
    const end = isLine ? line : at + length - (/[\ud800-\udbff]/.test(text.charAt(at + length - 1)) ? 1 : 0);
    parts.push(text.slice(at, end));
    at = isLine ? end + 1 : end;
  }
  return [...parts, text.slice(at)];
}

/** The decision of a press on such a button, if it is one. */
export function approvalTap(data: string): { readonly approvalId: string; readonly said: Json } | undefined {
  const match = /^(allow|deny):([A-Za-z0-9._-]{1,56})$/.exec(data);
  if (match?.[2] === undefined) return undefined;
  const said =
    match[1] === 'allow' ? { decision: 'allow' } : { decision: 'deny', message: 'A user denied this call.' };
  return { approvalId: match[2], said };
}

/** Model output: it must not end its code block. */
function fenced(text: string): string {
  const longest = [...text.matchAll(/`+/g)].reduce((most, [run]) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
