import type { RestateOutcome } from './outcome.ts';

/** Messages between the handlers. All are JSON that the engine stores. */

/** Names of the services. */
export interface ServiceNames {
  /** A virtual object for each key: which runs are open, in the order of their start. */
  readonly keys: string;
  /** A workflow for each run. */
  readonly runs: string;
}

export function serviceNames(service: string): ServiceNames {
  return { keys: `${service}.keys`, runs: `${service}.runs` };
}

/** A run as it is started. */
export interface RestateRun {
  readonly runId: string;
  /** Version of the routine. */
  readonly version: string;
  /** JSON. */
  readonly input: string;
}

export interface StartRequest extends RestateRun {
  readonly rejectBusy: boolean;
}

export type StartResult = 'started' | 'exists' | 'busy';

export interface RunRequest extends RestateRun {
  /** Key of the object in whose queue it waits. */
  readonly line: string;
  /** True if no run with its key was open, so that it need not wait. */
  readonly isFirst: boolean;
}

/** Value of a signal: JSON; undefined when the run no longer waits for it. */
export interface Signalled {
  readonly text: string | null;
}

export interface SignalRequest extends Signalled {
  readonly name: string;
}

export type RestateRunRecord = { readonly state: 'unknown' | 'queued' | 'running' } | RestateOutcome;

/** Names of the promises of a run. */
export const promises = {
  /** Given at its start, once. */
  reserved: 'reserved',
  turn: 'turn',
  /** Its outcome: the first to set it, the run or a cancel, decides. */
  over: 'over',
  signal: (name: string): string => `signal ${name}`,
} as const;

/** The object of runs with this key, or of one without. */
export function objectKey(runId: string, key: string | undefined): string {
  return key === undefined ? `run ${runId}` : `key ${key}`;
}
