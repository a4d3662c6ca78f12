import type { Event, Tool, UserPart } from '@cobbler/agent';
import type { CommandDefinition } from '@cobbler/agent/definitions';
import type { Harness, HarnessHandler } from '@cobbler/agent/harness';
import type { BackgroundCommands } from '@cobbler/tools';
import type { Effort } from '../config/run-flags.ts';
import type { Permission } from '../permissions/permission.ts';
import type { ListedSession } from '../session/session-lines.ts';
import type { UndoHistory } from '../session/undo-history.ts';
import type { Io, RawKeyboard } from '../terminal/io.ts';
import type { Screen } from '../terminal/screen.ts';
import type { Style } from '../terminal/style.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { FailureContext } from '../view/failure.ts';
import type { Notify } from './attention.ts';
import type { ReadProgram } from './input/clipboard.ts';
import type { PromptHistory } from './input/prompt-history.ts';

/** The model of a conversation, as far as it is known here. */
export interface ChatModel {
  readonly name: string;
  /** Size of its context window in tokens, if known. */
  readonly contextTokens?: number;
  readonly effort?: Effort;
}

/** Another model, or another effort: undefined for the one of the configuration. */
export interface ModelChange {
  readonly model?: string;
  readonly effort?: Effort | undefined;
}

/** A model that can be selected. */
export interface ModelChoice {
  readonly name: string;
  readonly text: string;
}

/** The listener of a conversation: its events and the state of the connection. */
export interface ChatListener {
  readonly handler: HarnessHandler;
  /** True to follow the runs of other processes. Default false. */
  readonly followsOthers?: boolean;
  onLost(reason: string): void;
  onBack(events: number): void;
  /** Called when the server refuses a decision about the active run. */
  onRefused?(approvalId: string, reason: string): void;
  /** Called with a message that the active run has ended without. */
  onUnread?(content: string | readonly UserPart[]): void;
  /** Called with a notice that does not change the conversation. */
  onNotice(line: string): void;
  /** Called when events are no longer stored. */
  onTrouble(message: string): void;
}

/** Features that only a local conversation has. */
export interface LocalParts {
  readonly tools: readonly Tool[];
  /** The prompts that have a name. */
  readonly commands: readonly CommandDefinition[];
  readonly permission: Permission;
  readonly background?: BackgroundCommands;
  models(): readonly ModelChoice[];
  /** @throws UsageError, or AgentError `invalid`, for a model that cannot be used. */
  setModel(change: ModelChange): Promise<void>;
  /** Stores a rule in the project's file. Returns the path of the file for display. */
  keepRule(rule: string): Promise<string>;
}

/** The place where conversations run: this machine or a server. A chat depends only on this interface. */
export interface ChatHost {
  /** Facts such as `cobbler`, model and directory. */
  readonly header: readonly string[];
  /** The directory for attached files and shell commands. */
  readonly folder: string;
  /** The directory for display, and other facts about the location for the status line. */
  readonly place: string;
  readonly model: ChatModel;
  readonly permissionWord: string;
  readonly limits: { readonly turns: number; readonly usd?: number };
  readonly failure: Omit<FailureContext, 'verbose'>;
  /** The tools that calls are displayed with; a server may have different ones. */
  readonly known: readonly Tool[];
  /** On a server, it knows no files. */
  readonly undo: UndoHistory;
  /** Absent on a server. */
  readonly local?: LocalParts;
  /** Continues a conversation, or starts a new one. */
  open(sessionId: string | undefined, listener: ChatListener): Harness;
  /** Continues with a conversation that begins like this one. */
  adopt(harness: Harness, from: string): void;
  past(sessionId: string): Promise<readonly Event[]>;
  sessions(): Promise<readonly ListedSession[]>;
  /** Returns the command line that reopens a conversation; undefined if it is not stored. */
  wayBack(sessionId: string): string | undefined;
  close(): Promise<void>;
}

/** @throws UsageError on a server, which decides this itself. */
export function localParts({ local }: ChatHost, what: string, other: string): LocalParts {
  if (local !== undefined) return local;
  throw new UsageError(`The server ${what}.`, `Restart the server with ${other}`);
}

/** Options of a chat. */
export interface ChatParts {
  readonly io: Io;
  readonly host: ChatHost;
  readonly screen: Screen;
  readonly style: Style;
  readonly keyboard: RawKeyboard;
  readonly history: PromptHistory;
  /** A session to continue. */
  readonly sessionId?: string;
  /** Default: a bell. */
  readonly notify?: Notify;
  /** True for the keys of Vim. Default: those of a shell. */
  readonly vim?: boolean;
  /** Runs the programs that read the clipboard. Default: those of this machine. */
  readonly readProgram?: ReadProgram;
  /** The first prompt, sent immediately. */
  readonly prompt?: readonly UserPart[];
}
