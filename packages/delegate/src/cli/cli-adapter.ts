import type { HarnessCapabilities } from '@cobbler/agent/harness';
import type { BackendRequest, CallDecision, DelegatePermission } from '../backend/backend.ts';
import type { BackendEvent } from '../events/backend-event.ts';
import type { ServiceVariables } from './key-relay.ts';
import type { OwnDirectory } from './program-sandbox.ts';

/** The adapter of one program: how to start it, call it and parse its output. It has no side effects. */
export interface CliAdapter {
  /** The backend's name. */
  readonly name: string;
  /** The program's name on the PATH. */
  readonly program: string;
  readonly permission: DelegatePermission;
  readonly capabilities: HarnessCapabilities;
  readonly tellsCost: boolean;
  /** Environment variables that this program needs for its own service. */
  readonly variables: readonly string[];
  /** The variables among them with its keys and the address of its service. */
  readonly service: ServiceVariables;
  readonly directory: OwnDirectory;
  /** Variables that are always set. */
  readonly settings: Readonly<Record<string, string>>;
  /** Returns true if a text can be an id of its conversations. */
  isSessionId(id: string): boolean;
  /** Returns the arguments after the program's name. `address` is that of the relay, if there is one. */
  argv(request: BackendRequest, address?: string): readonly string[];
  /** Starts the communication with a running program. */
  connect(request: BackendRequest, say: (line: string) => void): CliConnection;
  /** Returns true if an attempt without a result failed because the conversation to continue is lost. */
  isStale(stderr: string): boolean;
}

/** A connection to a running program. */
export interface CliConnection {
  /** Text written to its standard input immediately. */
  readonly opening: string;
  /** True if more input can follow the opening. */
  readonly staysOpen: boolean;
  /** Returns the events of a line of output. */
  handle(line: string): readonly BackendEvent[];
  decide?(callId: string, decision: CallDecision): void;
  steer?(text: string): boolean;
  /** Asks the program to stop. */
  interrupt?(): void;
}
