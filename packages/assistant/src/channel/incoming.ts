import type { Reader } from '@cobbler/agent/input';
import { invalid, oneOf, record, text, when } from '@cobbler/agent/input';
import { isObject } from '@cobbler/agent/provider';

interface IncomingMetadata {
  /** The channel's own id of this arrival, which identifies repeated deliveries. */
  readonly id: string;
  readonly chatId: string;
  readonly userId: string;
  /** Time in milliseconds since 1970, by the channel's clock. */
  readonly sentAt: number;
}

/** A message from a user. */
export interface IncomingText extends IncomingMetadata {
  readonly type: 'text';
  readonly text: string;
  /** The channel's id of this message. */
  readonly message?: string;
  /** The channel's id of the message that this one replies to. */
  readonly repliesTo?: string;
  /** BCP 47 language tag, if the channel knows it. */
  readonly language?: string;
}

/** A press of a button under a message. */
export interface IncomingTap extends IncomingMetadata {
  readonly type: 'tap';
  /** The value of the button. */
  readonly data: string;
  /** The id with which the channel confirms the press. */
  readonly tapId: string;
  /** The message with the buttons. */
  readonly message?: string;
}

/** Unsupported input (a photo, a voice message, a text that is too long) with the reply to it. */
export interface IncomingOther extends IncomingMetadata {
  readonly type: 'other';
  /** Reply to the user. */
  readonly answer: string;
  /** The channel's id of this message. */
  readonly message?: string;
}

/** A channel's interpretation of an update: an arrival, or the reason why it is ignored, for the log. */
export type Incoming = IncomingText | IncomingTap | IncomingOther;
/** The content of an update: an arrival for the assistant, or the reason why it is ignored. */
export type ReadUpdate =
  | Incoming
  | { readonly type: 'ignored'; readonly id?: string; readonly reason: string };

const metadata = {
  id: text,
  chatId: text,
  userId: text,
  sentAt: when<number>((value) => Number.isFinite(value), 'a time in milliseconds since 1970'),
  message: text,
};

const required = ['type', 'id', 'chatId', 'userId', 'sentAt'] as const;

const kinds: Readonly<Record<ReadUpdate['type'], Reader<ReadUpdate>>> = {
  text: record<IncomingText>({ ...metadata, type: oneOf('text'), text, repliesTo: text, language: text }, [
    ...required,
    'text',
  ]),
  tap: record<IncomingTap>({ ...metadata, type: oneOf('tap'), data: text, tapId: text }, [
    ...required,
    'data',
    'tapId',
  ]),
  other: record<IncomingOther>({ ...metadata, type: oneOf('other'), answer: text }, [...required, 'answer']),
  ignored: record<Extract<ReadUpdate, { type: 'ignored' }>>(
    { type: oneOf('ignored'), id: text, reason: text },
    ['type', 'reason'],
  ),
};

const kindOf: Reader<ReadUpdate['type']> = oneOf('text', 'tap', 'other', 'ignored');

/** Reads the content of an update. */
export const readIncoming: Reader<ReadUpdate> = (value) => {
  if (!isObject(value)) throw invalid(value, 'Use a value returned by channel.readUpdate');
  return kinds[kindOf(value['type'])](value);
};
