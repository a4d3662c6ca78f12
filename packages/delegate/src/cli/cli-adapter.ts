import type { HarnessCapabilities } from '@cobbler/agent/harness';
import type { BackendRequest, CallDecision, DelegatePermission } from '../backend/backend.ts';
import type { BackendEvent } from '../events/backend-event.ts';
import type { ServiceVariables } from './key-relay.ts';

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

/** The directory in which a program keeps its login and its conversations. */
export interface OwnDirectory {
  /** The variable that names it. */
  readonly variable: string;
  /** Its name in the home directory if there is no such variable. */
  readonly name: string;
  /** What the program executes or obeys there. Nothing that runs in the sandbox may change it. */
  readonly locked: readonly string[];
  /** Directories among them that the program creates when it starts for the first time. */
  readonly created: readonly string[];
  /** A file with settings that is in this directory if the variable is set, and otherwise in the home directory. */
  readonly settings?: string;
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
