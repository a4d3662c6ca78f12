import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import type { Reader } from '@cobbler/agent/input';
import { withMethods } from '@cobbler/agent/input';
import type { SessionPlace } from './session-place.ts';

/** The directories in which the sessions of a server work. */
export interface SessionPlaces {
  /** Prepares the directory of a session. Returns the reason if no run can start there. */
  open(sessionId: string): Promise<string | undefined>;
  /** Returns the directory of a session, if it is known. */
  folderOf(sessionId: string): string | undefined;
  /** The directories in which a session can start; the default one is the first. */
  folders(): Promise<readonly string[]>;
  /** Sets the directory of a new session. */
  choose(sessionId: string, folder: string): void;
  /** Returns the rules that would allow a call from now on, the narrowest first. */
  rulesFor(sessionId: string, request: ApprovalRequestedEvent): readonly string[];
  /** Applies a rule and stores it. Rejects if it cannot be stored. */
  keepRule(sessionId: string, rule: string): Promise<void>;
  /** Returns what the directory of a session knows; undefined if it cannot be used. */
  placeOf(sessionId: string): SessionPlace | undefined;
  /** True if a session is in plan mode: nothing may change until a user approves a plan. */
  plans(sessionId: string): boolean;
  /** Turns plan mode on or off, from the next call on. @throws AgentError if that cannot be stored. */
  plan(sessionId: string, isOn: boolean): void;
}

/** Reads the directories of a server. */
export const readPlaces: Reader<SessionPlaces> = withMethods(
  ...(['open', 'folderOf', 'folders', 'choose', 'rulesFor', 'keepRule', 'placeOf', 'plans', 'plan'] as const),
);
