import type { Tool } from '../interfaces/tool.ts';
import type { AgentError } from '../values/errors.ts';
import type { JsonObject } from '../values/json.ts';
import type { Redaction } from './redaction.ts';

/** Hands over something that has come in from outside; `more` when it is not the last of its kind. */
export type Put = (data: JsonObject, more?: boolean) => void;

/** How a place where things come in is served. */
export interface PortPlan {
  /** Takes what has come in, in a moment of its own: nothing else is under way. */
  take(data: JsonObject): void;
  /** Somebody waits for this port: what they get when a replay cannot go on. Absent: nobody waits. */
  fail?(error: AgentError): void;
  /** False when the run no longer waits although the port is open, as for a tool that was told to stop. */
  awaited?(): boolean;
  /** Starts what the things come from. A replay leaves it out, unless the port is `live`. */
  start?(put: Put, redaction: Redaction): void;
  /** On a replay the real thing happens too, and the recording gives only its moment. */
  readonly live?: boolean;
  /** Nothing comes in before this moment of the tape. */
  readonly dueAt?: number;
}

/** An open place where things come in. */
export interface Port {
  /** Passes on a value from the code that opened the port. */
  readonly put: Put;
  /** Nothing more is wanted. */
  close(): void;
}

/**
 * What a taped run has of the world: things come in through ports, one at a time, and the clock stands still
 * in between. A recording deck writes down what comes in, a playing deck lets the same come in again in the
 * same order. Its users cannot tell which of the two it is.
 */
export interface Deck {
  /** Wall clock when the tape began, in milliseconds since 1970. */
  readonly startedAt: number;
  /** Milliseconds since the tape began, as of the moment when the last thing came in. */
  readonly at: number;
  id(): string;
  random(): number;
  /**
   * Says what the run wants from outside and gives the name under which it comes in.
   * @throws AgentError `agent`, code `replay_miss`, when the cassette holds nothing like it.
   */
  ask(kind: string, content: JsonObject): string;
  open(name: string, plan: PortPlan): Port;
  /** A fact about the world that does not change during the tape. `make` finds it out when recording. */
  fact<Value>(name: string, make: () => Value): Value;
  /** Secrets that must not be written down. */
  learn(secrets: readonly string[]): void;
  /** Whether this tool runs on a replay too. */
  isLive(tool: Tool): boolean;
  /** @throws AgentError `agent`, code `replay_miss`, unless all went as recorded. */
  check(): void;
  /** Nothing comes in before the promise has settled: for work whose length is no part of the run. */
  during<Value>(work: Promise<Value>): Promise<Value>;
}
