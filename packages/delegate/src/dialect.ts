import type { HarnessCapabilities } from '@cobbler/agent';
import type { BackendRequest, CallDecision, DelegatePermission } from './backend.ts';
import type { BackendEvent } from './happening.ts';

/** How one program is started, spoken to and understood. No effects: whoever runs it has them. */
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
  /** Whether a text can be an id of its conversations. */
  isSessionId(id: string): boolean;
  /** The arguments behind the program's name. */
  argv(request: BackendRequest): readonly string[];
  /** Begins to speak with a program that has been started. */
  talk(request: BackendRequest, say: (line: string) => void): CliConnection;
  /** Whether a try that said nothing of an end failed because the conversation to go on with is gone. */
  isStale(stderr: string): boolean;
}

/** One conversation with a started program. */
export interface CliConnection {
  /** Written to its standard input at once. */
  readonly opening: string;
  /** True when more may be said to it after the opening. */
  readonly staysOpen: boolean;
  /** What a line tells. */
  hear(line: string): readonly BackendEvent[];
  decide?(callId: string, decision: CallDecision): void;
  steer?(text: string): boolean;
  /** Asks it to stop by itself. */
  interrupt?(): void;
}
