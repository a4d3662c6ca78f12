import { AgentError } from '@cobbler/agent';
import { amount, callable, flag, read, record, text, when } from '@cobbler/agent/input';
import type { Button, Channel, ChannelFile, MessagePart, SendOptions } from './channel.ts';
import { maxNoteLength, withReadArguments } from './channel.ts';

/** A message as it is in the channel, including edits. */
export interface SentMessage {
  readonly id: string;
  readonly chatId: string;
  readonly text: string;
  readonly buttons: readonly Button[];
  /** The content of a sent file; the text is then its name. */
  readonly file?: ChannelFile;
  readonly replyTo?: string;
}

/** Failure of the next call. `sent` is true if the message arrives anyway. */
export interface PlannedFailure {
  readonly error: AgentError;
  readonly sent?: boolean;
}

/** A channel that stores sent messages, for tests and terminals. */
export interface MemoryChannel extends Channel {
  /** Sent messages, in order. */
  readonly messages: readonly SentMessage[];
  /** Confirmed button presses, with their texts. */
  readonly taps: readonly { readonly tapId: string; readonly text?: string }[];
  /** Number of times the typing indicator was shown. */
  readonly typed: number;
  /** Number of calls to `send` and `sendFile`, including failed ones. */
  readonly attempts: number;
  /** Makes the next `send`, `sendFile` or `edit` fail. Several failures apply in order. */
  failNext(failure: PlannedFailure): void;
}

/** Behavior and listeners of `memoryChannel`. */
export interface MemoryChannelOptions {
  readonly name?: string;
  /** Maximum length of a message in UTF-16 code units. Default: no limit. */
  readonly longest?: number;
  /** Receives each new and each edited message. */
  readonly onMessage?: (message: SentMessage, change: 'sent' | 'edited') => void;
}

const readOptions = record<MemoryChannelOptions>({ name: text, longest: amount, onMessage: callable });

const readFailure = record<PlannedFailure>({ error: when(AgentError.is, 'an AgentError'), sent: flag }, [
  'error',
]);

/**
 * Creates a channel that stores its messages as plain text in memory.
 * @throws AgentError `invalid` for an invalid option.
 */
export function memoryChannel(options: MemoryChannelOptions = {}): MemoryChannel {
  const given = read(options, readOptions);
  const { name = 'memory', longest: maxLength = Number.POSITIVE_INFINITY, onMessage } = given;
  const messages: SentMessage[] = [];
  const presses: { tapId: string; text?: string }[] = [];
  const failures: PlannedFailure[] = [];
  let typed = 0;
  /** Number of attempts, which is also the last id. */
  let attempts = 0;
  const attempt = (signal: AbortSignal | undefined, effect: () => void) => {
    if (signal?.aborted === true)
      throw new AgentError({ kind: 'aborted', code: 'cancelled', message: 'Nothing was sent.' });
    const failure = failures.shift();
    if (failure === undefined || failure.sent === true) effect();
    if (failure !== undefined) throw failure.error;
  };
  const add = (content: Omit<SentMessage, 'id'>, signal: AbortSignal | undefined): string => {
    attempts += 1;
    const id = String(attempts);
    attempt(signal, () => {
      const message: SentMessage = { id, ...content };
      messages.push(message);
      onMessage?.(message, 'sent');
    });
    return id;
  };
  return withReadArguments<MemoryChannel>({
    name,
    messages,
    taps: presses,
    get typed() {
      return typed;
    },
    get attempts() {
      return attempts;
    },
    failNext(failure) {
      failures.push(read(failure, readFailure, 'failure'));
    },
    pieces: (markdown) => plainParts(markdown, Math.max(maxLength - noteRoom, 1)),
    send: async (chatId, { text }, { buttons = [], ...options } = {}) =>
      add({ chatId, text: withNote(text, options.note), buttons, ...repliesTo(options) }, options.signal),
    sendFile: async (chatId, file, options = {}) => {
      const text = withNote(file.name, options.note);
      return add({ chatId, text, buttons: [], file, ...repliesTo(options) }, options.signal);
    },
    async edit(chatId, messageId, { text }, { signal, buttons = [] } = {}) {
      attempt(signal, () => {
        const index = messages.findIndex((message) => message.id === messageId && message.chatId === chatId);
        const before = messages[index];
        if (before === undefined) return;
        const message: SentMessage = { ...before, text, buttons };
        messages[index] = message;
        onMessage?.(message, 'edited');
      });
    },
    async typing() {
      typed += 1;
    },
    async heard(tapId, text) {
      presses.push(text === undefined ? { tapId } : { tapId, text });
    },
  });
}

/** Space for a note and the blank line below it. */
const noteRoom = maxNoteLength + 2;

function withNote(text: string, note: string | undefined): string {
  return note === undefined ? text : `${note}\n\n${text}`;
}

function repliesTo({ replyTo }: SendOptions): Pick<SentMessage, 'replyTo'> {
  return replyTo === undefined ? {} : { replyTo };
}

/** Splits text at the last line break or space that fits, otherwise between two code points. */
function plainParts(text: string, maxLength: number): MessagePart[] {
  const parts: MessagePart[] = [];
  let rest = text.trim();
  while (rest.length > maxLength) {
    const cut = cutOf(rest, maxLength);
    parts.push({ text: rest.slice(0, cut).trimEnd() });
    rest = rest.slice(cut).trimStart();
  }
  if (rest !== '') parts.push({ text: rest });
  return parts;
}

function cutOf(text: string, maxLength: number): number {
  const line = text.lastIndexOf('\n', maxLength);
  if (line > 0) return line;
  const word = text.lastIndexOf(' ', maxLength);
  if (word > 0) return word;
  return text.codePointAt(maxLength - 1) === text.charCodeAt(maxLength - 1) ? maxLength : maxLength - 1;
}
