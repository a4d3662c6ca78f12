import type { HarnessCapabilities } from '@cobbler/agent/harness';
import type { BackendRequest, CallDecision, DelegatePermission } from '../backend/backend.ts';
import type { BackendEvent } from '../events/backend-event.ts';

/** Adapter of one program: how to start, call and parse it. No effects: the caller performs them. */
export interface CliAdapter {
  /** The backend's name. */
  readonly name: string;
  /** The program's name on the PATH. */
  readonly program: string;
  readonly permission: DelegatePermission;
  readonly capabilities: HarnessCapabilities;
  readonly tellsCost: boolean;
  /** Variables of the environment that this program needs for its own service. */
  readonly variables: readonly string[];
  /** Variables that it is always given. */
  readonly settings: Readonly<Record<string, string>>;
  /** True if a text can be an id of its conversations. */
  isSessionId(id: string): boolean;
  /** The arguments behind the program's name. */
  argv(request: BackendRequest): readonly string[];
  /** Begins to speak with a program that has been started. */
  talk(request: BackendRequest, say: (line: string) => void): CliConnection;
  /** True if an attempt without a result failed because the conversation to continue is lost. */
  isStale(stderr: string): boolean;
}

/** One conversation with a started program. */
export interface CliConnection {
  /** Written to its standard input at once. */
  readonly opening: string;
  /** True when more may be said to it after the opening. */
  readonly staysOpen: boolean;
  /** The events of a line. */
  hear(line: string): readonly BackendEvent[];
  decide?(callId: string, decision: CallDecision): void;
  steer?(text: string): boolean;
  /** Asks the program to stop. */
  interrupt?(): void;
}
