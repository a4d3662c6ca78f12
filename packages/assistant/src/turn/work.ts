import { defined } from '@cobbler/agent/values';
import type { Incoming, IncomingTap, IncomingText } from '../channel/incoming.ts';

interface For {
  readonly chatId: string;
  readonly userId: string;
  readonly sentAt: number;
  /** The channel's id of the message that is answered. */
  readonly asked?: string;
}

/** Something said that wants an answer of the model. The ids of both rows are given here, once and for all. */
export interface TurnWork extends For {
  readonly type: 'turn';
  readonly text: string;
  readonly messageId: string;
  readonly replyId: string;
}

/** `/name rest`: handled without the model, parallel to an active turn. */
export interface CommandWork extends For {
  readonly type: 'command';
  readonly name: string;
  readonly rest: string;
  /** The channel's id of the message that the command replies to. */
  readonly repliesTo?: string;
}

export interface TapWork extends For {
  readonly type: 'tap';
  readonly data: string;
  readonly tapId: string;
  readonly message?: string;
}

/** A word about what cannot be worked with. */
export interface NoticeWork extends For {
  readonly type: 'notice';
  readonly text: string;
}

/** Old messages of a chat go into memory. */
export interface RememberWork {
  readonly type: 'remember';
  readonly chatId: string;
}

/** The work items of an assistant's routine. Plain data: it is stored until the work is done. */
export type Work = TurnWork | CommandWork | TapWork | NoticeWork | RememberWork;

/** The work for an arrival. */
export function workFor(arrival: Incoming, newId: () => string): Work {
  const { chatId, userId, sentAt } = arrival;
  const sender = { chatId, userId, sentAt };
  if (arrival.type === 'tap') return tapFor(arrival, sender);
  const whose = { ...sender, ...defined({ asked: arrival.message }) };
  if (arrival.type === 'other') return { type: 'notice', ...whose, text: arrival.answer };
  return commandFor(arrival, whose) ?? turnFor(arrival, whose, newId);
}

/** Work with one key is done in order; work that must not wait for an active turn has its own key. */
export function keyOf(work: Work): string {
  if (work.type === 'turn') return `chat:${work.chatId}`;
  if (work.type === 'remember') return `memory:${work.chatId}`;
  return `control:${work.chatId}`;
}

function turnFor({ text }: IncomingText, whose: For, newId: () => string): TurnWork {
  return { type: 'turn', ...whose, text, messageId: newId(), replyId: newId() };
}

/** A command may include a bot name: `/help@name`. */
function commandFor({ text, repliesTo }: IncomingText, whose: For): CommandWork | undefined {
  const match = /^\/([a-z][a-z0-9_]{0,31})(?:@\w+)?(?:\s+(.*))?$/is.exec(text.trim());
  if (match?.[1] === undefined) return undefined;
  const [, name, rest = ''] = match;
  const reply = repliesTo === undefined ? {} : { repliesTo };
  return { type: 'command', ...whose, name: name.toLowerCase(), rest: rest.trim(), ...reply };
}

function tapFor({ data, tapId, message }: IncomingTap, whose: For): TapWork {
  return { type: 'tap', ...whose, data, tapId, ...defined({ message }) };
}
