import type { Channel } from '../../channel.ts';

/** A message as the people in the chat see it. */
export interface SeenMessage {
  readonly id: string;
  readonly text: string;
  readonly buttons: readonly { readonly label: string; readonly data: string }[];
  /** What was sent as a file. */
  readonly file?: { readonly name: string; readonly text: string };
  /** The id of the message that it replies to. */
  readonly replyTo?: string;
}

/**
 * What the next call meets. Nothing is sent by `markup` (its first try), `limit` (to be waited out for 7 seconds),
 * `blocked`, `gone`, `token`, `down` and `refused`; with `cut`, `lost` and `timeout` that cannot be known.
 */
export type ChannelFault =
  | 'markup'
  | 'limit'
  | 'blocked'
  | 'gone'
  | 'token'
  | 'down'
  | 'refused'
  | 'cut'
  | 'lost'
  | 'timeout';

/** A channel and the other end of it, for one case. */
export interface ChannelScene {
  readonly channel: Channel;
  /** A chat that takes messages and holds none of the channel's yet. */
  readonly chatId: string;
  /** What the channel has put into the chat, oldest first. */
  seen(): readonly SeenMessage[];
  /** Lets the next call meet this. */
  meet(fault: ChannelFault): void;
  /** Lets time pass by which the channel gives up on an answer. Called once the call is under way. */
  pass(): Promise<void>;
  /** Requests, or what stands for them, by which messages are sent; counted to see that none is tried twice. */
  sends(): number;
  /** The id of a tap that can still be answered. */
  tap(messageId: string): string;
  /** Taps from before are too old. */
  expireTaps(): void;
  /** The person takes a message away. */
  remove(messageId: string): void;
  close?(): Promise<void>;
}

/** An implementation and what it needs. */
export interface ChannelSubject {
  readonly name: string;
  open(): Promise<ChannelScene>;
  /** Longest text of a message in UTF-16 units. */
  readonly longest: number;
  /** The text that people see of markup. Default: a channel without markup. */
  readonly visible?: (markup: string) => string;
  /** What cannot happen to this channel, with the reason; such cases are off. */
  readonly lacks?: Readonly<Partial<Record<ChannelFault | 'tap' | 'remove', string>>>;
}
