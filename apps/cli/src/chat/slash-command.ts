import type { Harness } from '@cobbler/agent/harness';
import type { Io } from '../terminal/io.ts';
import type { Style, Theme } from '../terminal/style.ts';
import type { Conversation } from './conversation.ts';
import type { ChatHost } from './host.ts';
import type { MenuItem } from './input/menu.ts';
import type { PromptNotes } from './prompt-notes.ts';

/** Options for replacing one conversation with another. */
export interface ReplaceOptions {
  /** Set if the user sees it as the same conversation: its cost so far is kept. */
  readonly keepsCost?: true;
  /** Set if the user has already seen it. */
  readonly isQuiet?: true;
}

/** The context of a command. */
export interface CommandContext {
  readonly io: Io;
  readonly host: ChatHost;
  readonly conversation: Conversation;
  readonly style: Style;
  /** What the model learns with the next prompt. */
  readonly notes: PromptNotes;
  columns(): number;
  /** Adds lines to the page. */
  say(lines: readonly string[]): void;
  /** Shows a menu, in which the item with the name `current` is marked first. */
  pick(title: string, items: readonly MenuItem[], onPick: (name: string) => unknown, current?: string): void;
  /** Asks a yes-or-no question; calls `onYes` if the user presses `y`. */
  ask(question: string, onYes: () => unknown): void;
  /** Sends a prompt. Only the files that `named` names with `@` are attached. */
  send(text: string, named: string): void;
  /** Continues another session, or starts a new one. */
  open(sessionId: string | undefined, how?: ReplaceOptions): Promise<Conversation>;
  /** Continues with a conversation that begins like this one. */
  adopt(harness: Harness, how?: ReplaceOptions): Promise<Conversation>;
  /** Puts a text into the input, unless something is typed there. */
  draft(text: string): void;
  setTheme(theme: Theme): void;
  /** Turns the Vim keys on or off. Returns whether they are on. */
  switchVim(): boolean;
  /** Attaches the image in the clipboard. */
  pasteImage(): Promise<void>;
  /** Copies a text to the user's clipboard, if the terminal allows it. */
  copy(text: string): void;
  leave(): void;
}

/** A slash command. */
export interface SlashCommand {
  readonly name: string;
  /** Other names that people type. */
  readonly aliases?: readonly string[];
  /** Arguments after the name. */
  readonly operand?: string;
  /** A description of one line for the list of commands. */
  readonly text: string;
  /** Set if the command cannot be used during a run, because it replaces the conversation. */
  readonly needsRest?: true;
  run(commandContext: CommandContext, operand: string): unknown;
}
