import { defined } from '@cobbler/agent/values';
import type { Incoming, IncomingTap, IncomingText } from '../channel/incoming.ts';

interface WorkMetadata {
  readonly chatId: string;
  readonly userId: string;
  readonly sentAt: number;
  /** The channel's id of the message that it replies to. */
  readonly asked?: string;
}

/** A message that requires a model response. The ids of both rows are assigned here, once. */
export interface TurnWork extends WorkMetadata {
  readonly type: 'turn';
  readonly text: string;
  readonly messageId: string;
  readonly replyId: string;
}

/** A command `/name rest`, executed without the model and in parallel with an active turn. */
export interface CommandWork extends WorkMetadata {
  readonly type: 'command';
  readonly name: string;
  readonly rest: string;
  /** The channel's id of the message that the command replies to. */
  readonly repliesTo?: string;
}

export type ButtonPressWork = WorkMetadata & Pick<IncomingTap, 'type' | 'data' | 'tapId' | 'message'>;

/** A reply to input that is not supported. */
export interface NoticeWork extends WorkMetadata {
  readonly type: 'notice';
  readonly text: string;
}

/** A request to summarize old messages of a chat and add them to its memory. */
export interface RememberWork {
  readonly type: 'remember';
  readonly chatId: string;
  /** The user whose message started it. */
  readonly userId?: string;
}

/** The input of an assistant's workflow. Plain data: it is stored until the run ends. */
export type Work = TurnWork | CommandWork | ButtonPressWork | NoticeWork | RememberWork;

/** Returns the work for an arrival. */
export function workFor(arrival: Incoming, newId: () => string): Work {
  const { chatId, userId, sentAt } = arrival;
  const sender = { chatId, userId, sentAt };
  if (arrival.type === 'tap') return buttonPressFor(arrival, sender);
  const whose = { ...sender, ...defined({ asked: arrival.message }) };
  if (arrival.type === 'other') return { type: 'notice', ...whose, text: arrival.answer };
  return (
    commandFor(arrival, whose) ?? {
      type: 'turn',
      ...whose,
      text: arrival.text,
      messageId: newId(),
      replyId: newId(),
    }
  );
}

/** Returns the key of a work item. Those with one key run in order; one that must not wait for a turn has its own. */
export function keyOf(work: Work): string {
  if (work.type === 'turn') return `chat:${work.chatId}`;
  if (work.type === 'remember') return `memory:${work.chatId}`;
  return `control:${work.chatId}`;
}

/** Parses a command, which may include a bot name: `/help@name`. */
function commandFor({ text, repliesTo }: IncomingText, whose: WorkMetadata): CommandWork | undefined {
  const match = /^\/([a-z][a-z0-9_]{0,31})(?:@\w+)?(?:\s+(.*))?$/is.exec(text.trim());
  if (match?.[1] === undefined) return undefined;
  const [, name, rest = ''] = match;
  const reply = repliesTo === undefined ? {} : { repliesTo };
  return { type: 'command', ...whose, name: name.toLowerCase(), rest: rest.trim(), ...reply };
}

function buttonPressFor({ data, tapId, message }: IncomingTap, whose: WorkMetadata): ButtonPressWork {
  return { type: 'tap', ...whose, data, tapId, ...defined({ message }) };
}
