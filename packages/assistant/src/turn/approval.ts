import type { Json } from '@cobbler/agent';
import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import { approvalText } from '@cobbler/agent/events';
import type { Button, Channel, ChannelFile, MessagePart } from '../channel/channel.ts';
import { allowNo, allowYes, mayIUse, notAllShown, tooLongToShow } from './messages.ts';

/** The question about a call, for the user. */
export interface ApprovalQuestion {
  /** The messages that show the call, in order. */
  readonly pieces: readonly MessagePart[];
  /** The complete call, if the messages do not show it. */
  readonly file?: ChannelFile;
  /**
   * Buttons under the last message, shown after all messages have arrived. Absent: the call cannot be allowed here.
   */
  readonly buttons?: readonly Button[];
  /** Sent last if Allow is not offered, with {@link ApprovalQuestion.denyButtons} under it. */
  readonly withheld: MessagePart;
  readonly denyButtons: readonly Button[];
}

/** Maximum number of messages of one question. */
const maxPieces = 3;

/** Numbers of characters of a call per message, largest first, because channels have different message limits. */
const pieceLengths = [3500, 1800, 700];

/**
 * Splits a call into messages that show all of it, exactly as it would run. A call that needs more than three
 * messages, or that the channel would split, is sent as a file and can only be denied: a user must not allow what is
 * not shown.
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

/**
 * Returns each part as one message that shows it unchanged; undefined if there are too many or the channel changes
 * one.
 */
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

/** Splits a text into parts of limited UTF-16 code units, after a line if the part is then long enough. */
function partsOf(text: string, length: number): string[] {
  const parts: string[] = [];
  let at = 0;
  while (text.length - at > length && parts.length <= maxPieces) {
    const line = text.lastIndexOf('\n', at + length);
    const isLine = line > at + length / 2;
    // Never between the halves of a surrogate pair.
    const end = isLine ? line : at + length - (/[\ud800-\udbff]/.test(text.charAt(at + length - 1)) ? 1 : 0);
    parts.push(text.slice(at, end));
    at = isLine ? end + 1 : end;
  }
  return [...parts, text.slice(at)];
}

/** Returns the decision of a button press, if the button belongs to a question about a call. */
export function approvalTap(data: string): { readonly approvalId: string; readonly said: Json } | undefined {
  const match = /^(allow|deny):([A-Za-z0-9._-]{1,56})$/.exec(data);
  if (match?.[2] === undefined) return undefined;
  const said =
    match[1] === 'allow' ? { decision: 'allow' } : { decision: 'deny', message: 'A user denied this call.' };
  return { approvalId: match[2], said };
}

/** Formats a call as a code block. It is model output, so it must not be able to end its block. */
function fenced(text: string): string {
  const longest = [...text.matchAll(/`+/g)].reduce((most, [run]) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}
