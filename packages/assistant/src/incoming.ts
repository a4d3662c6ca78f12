interface Arrival {
  /** The channel's own id of this arrival: the same one again is the same arrival. */
  readonly id: string;
  readonly chatId: string;
  readonly userId: string;
  /** Milliseconds since 1970, by the channel's clock. */
  readonly sentAt: number;
}

/** Somebody wrote. */
export interface IncomingText extends Arrival {
  readonly type: 'text';
  readonly text: string;
  /** The channel's id of this message. */
  readonly message?: string;
  /** The channel's id of the message that this one replies to. */
  readonly repliesTo?: string;
  /** BCP 47, where the channel knows it. */
  readonly language?: string;
}

/** Somebody chose one of the buttons under a message. */
export interface IncomingTap extends Arrival {
  readonly type: 'tap';
  /** What the button stands for. */
  readonly data: string;
  /** By which the channel is told that the tap was heard. */
  readonly tapId: string;
  /** The message with the buttons. */
  readonly message?: string;
}

/** What cannot be worked with (a photo, a voice message, too long a text) and deserves a word of its own. */
export interface IncomingOther extends Arrival {
  readonly type: 'other';
  /** Words for the person. */
  readonly answer: string;
  /** The channel's id of this message. */
  readonly message?: string;
}

/** What a channel makes of an update: an arrival, or nothing with the reason for the log. */
export type Incoming = IncomingText | IncomingTap | IncomingOther;
/** What an update says: something for the assistant, or nothing and why. */
export type ReadUpdate =
  | Incoming
  | { readonly type: 'ignored'; readonly id?: string; readonly reason: string };
