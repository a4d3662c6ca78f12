import type { Event, Harness, Tool } from '@cobbler/agent';
import type { HarnessHandler } from '@cobbler/agent/harness';
import type { Permission } from '../config/permission.ts';
import type { ListedSession } from '../session/session-lines.ts';
import type { FailureContext } from '../view/failure.ts';
import type { UndoHistory } from './undo-history.ts';

/** The model that answers, as far as it is known here. */
export interface ChatModel {
  readonly name: string;
  /** Size of its window, when known. */
  readonly contextTokens?: number;
}

/** A model to choose. */
export interface ModelChoice {
  readonly name: string;
  readonly text: string;
}

/** The listener of a conversation: its events and the state of the connection. */
export interface ChatEar {
  readonly handler: HarnessHandler;
  onLost(reason: string): void;
  onBack(events: number): void;
  /** Something that has to be known and changes nothing of this conversation. */
  onNews(line: string): void;
  /** Events are no longer stored. */
  onTrouble(message: string): void;
}

/** Features that only a local conversation has. */
export interface LocalParts {
  readonly tools: readonly Tool[];
  readonly permission: Permission;
  readonly undo: UndoHistory;
  models(): readonly ModelChoice[];
  /** @throws UsageError, or AgentError `invalid`, for a model that cannot be asked. */
  setModel(name: string): Promise<void>;
  /** Writes a rule where the person wants it kept. Gives the file, as the person calls it. */
  keepRule(rule: string): Promise<string>;
}

/** Where conversations are held: on this machine or on a server. A chat knows nothing else of them. */
export interface ChatHost {
  /** Such as `cobbler`, model, folder. */
  readonly header: readonly string[];
  /** Where files are attached from and shell lines run. */
  readonly folder: string;
  /** The folder as the person calls it, and what else the status line says of the place. */
  readonly place: string;
  readonly model: ChatModel;
  readonly permissionWord: string;
  readonly limits: { readonly turns: number; readonly usd?: number };
  readonly failure: Omit<FailureContext, 'verbose'>;
  /** Tools by which calls are named; a server may have others. */
  readonly known: readonly Tool[];
  /** Absent on a server. */
  readonly local?: LocalParts;
  /** Continues a conversation, or starts a new one. */
  open(sessionId: string | undefined, ear: ChatEar): Harness;
  /** A conversation that begins like this one. */
  adopt(harness: Harness, from: string): void;
  past(sessionId: string): Promise<readonly Event[]>;
  sessions(): Promise<readonly ListedSession[]>;
  /** The command line that reopens a conversation; undefined if it is not stored. */
  wayBack(sessionId: string): string | undefined;
  close(): Promise<void>;
}
