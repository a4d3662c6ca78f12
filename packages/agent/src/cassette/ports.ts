import type { Tool } from '../interfaces/tool.ts';
import type { AgentError } from '../values/errors.ts';
import type { JsonObject } from '../values/json.ts';
import type { Redaction } from './redaction.ts';

/** Delivers an input from outside. `more` is true if it is not the last one of its operation. */
export type PutEntry = (data: JsonObject, more?: boolean) => void;

/** The handlers and settings of a port. */
export interface PortPlan {
  /** Receives an input. Nothing else is delivered at the same time. */
  take(data: JsonObject): void;
  /** Receives the error if a replay cannot continue. Absent if nothing waits for this port. */
  fail?(error: AgentError): void;
  /** Returns false if the run no longer waits although the port is open, for example for a tool that was asked to stop. */
  awaited?(): boolean;
  /** Starts the source of the inputs. During a replay it is called only if the port is `live`. */
  start?(put: PutEntry, redaction: Redaction): void;
  /** True if the real operation also runs during a replay; the recording then determines only when its input arrives. */
  readonly live?: boolean;
  /** The earliest time on the recorded clock at which an input arrives, in milliseconds. */
  readonly dueAt?: number;
}

/** An open port, through which inputs arrive. */
export interface Port {
  /** Delivers a value from the code that opened the port. */
  readonly put: PutEntry;
  /** Closes the port: later inputs are dropped. */
  close(): void;
}

/**
 * The connection between a recorded run and the outside world. Inputs arrive through ports, one at a time, and the
 * clock does not advance between them. `RecordingPorts` write each input to the cassette; `ReplayPorts` deliver the
 * recorded inputs in the same order. Code that uses ports cannot tell which of the two they are.
 */
export interface Ports {
  /** Wall-clock time when the recording started, in milliseconds since 1970. */
  readonly startedAt: number;
  /** Time of the latest input, in milliseconds since the recording started. */
  readonly at: number;
  id(): string;
  random(): number;
  /**
   * Registers a request of the run and returns the name under which its inputs arrive.
   * @throws AgentError `agent`, code `replay_miss`, if the cassette contains no such request.
   */
  ask(kind: string, content: JsonObject): string;
  open(name: string, plan: PortPlan): Port;
  /** Returns a fact that does not change during the recording. `make` computes it if it is not recorded yet. */
  fact<Value>(name: string, make: () => Value): Value;
  /** Adds secrets that must not be written to the cassette. */
  learn(secrets: readonly string[]): void;
  /** Returns whether this tool also runs during a replay. */
  isLive(tool: Tool): boolean;
  /** Checks the replay. Throws AgentError `agent`, code `replay_miss`, unless everything happened as recorded. */
  check(): void;
  /** Holds back all inputs until the promise settles, for work whose duration is not part of the run. */
  during<Value>(work: Promise<Value>): Promise<Value>;
}
