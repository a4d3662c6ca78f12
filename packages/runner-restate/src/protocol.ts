import type { RestateOutcome } from './outcome.ts';

/** Names of the services. */
export interface ServiceNames {
  /** A virtual object for each key, with the open runs that are due in their order. */
  readonly keys: string;
  /** A Restate workflow for each run. */
  readonly runs: string;
}

export function serviceNames(service: string): ServiceNames {
  return { keys: `${service}.keys`, runs: `${service}.runs` };
}

/** A run as sent at its start. */
export interface RestateRun {
  readonly runId: string;
  /** Input as JSON. */
  readonly input: string;
}

export interface StartRequest extends RestateRun {
  readonly rejectBusy: boolean;
  /** Time until the run is due, in milliseconds; 0 if it is. */
  readonly delayMs: number;
}

export type StartResult = 'started' | 'exists' | 'busy';

export interface RunRequest extends RestateRun {
  /** True if no run with its key was due and open, so it does not wait. */
  readonly isFirst: boolean;
}

/** Value of a signal as JSON; null if the run no longer waits for it. */
export interface Signalled {
  readonly text: string | null;
}

export interface SignalRequest extends Signalled {
  readonly name: string;
}

export type RestateRunRecord = { readonly state: 'unknown' | 'queued' | 'running' } | RestateOutcome;

/** Names of the promises of a run. */
export const promises = {
  /** Resolved once, when the run is created. */
  reserved: 'reserved',
  turn: 'turn',
  /** The outcome: set by the run or by a cancellation, whichever is first. */
  over: 'over',
  signal: (name: string): string => `signal ${name}`,
} as const;

/** Returns the key of the object for a run with this key, or without one. */
export function objectKey(runId: string, key: string | undefined): string {
  return key === undefined ? `run ${runId}` : `key ${key}`;
}
