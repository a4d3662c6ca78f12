import type { Harness } from '@cobbler/agent';
import type { Io } from '../terminal/io.ts';
import type { Style } from '../terminal/style.ts';
import type { Conversation } from './conversation.ts';
import type { ChatHost } from './host.ts';
import type { MenuItem } from './input/menu.ts';

/** Replaces one conversation with another. */
export interface Replacing {
  /** The user sees it as the same conversation: what was paid for stays in its figures. */
  readonly keepsCost?: true;
}

/** The context of a command. */
export interface CommandContext {
  readonly io: Io;
  readonly host: ChatHost;
  readonly conversation: Conversation;
  readonly style: Style;
  columns(): number;
  /** Adds lines to the page. */
  say(lines: readonly string[]): void;
  /** Lets the person choose. */
  pick(title: string, items: readonly MenuItem[], onPick: (name: string) => void | Promise<void>): void;
  /** Asks a question that `y` affirms. */
  ask(question: string, onYes: () => void | Promise<void>): void;
  /** Continues another session, or starts a new one. */
  open(sessionId: string | undefined, how?: Replacing): Promise<void>;
  /** Continues with a conversation that begins like this one. */
  adopt(harness: Harness, how?: Replacing): Promise<void>;
  /** Puts a text on the person's clipboard, if the terminal lets it. */
  copy(text: string): void;
  leave(): void;
}

/** A command that begins with a slash. */
export interface SlashCommand {
  readonly name: string;
  /** Arguments after the name. */
  readonly operand?: string;
  /** One line for the list. */
  readonly text: string;
  /** It would pull the conversation away from under a run. */
  readonly needsRest?: true;
  run(desk: CommandContext, operand: string): void | Promise<void>;
}
