import type { Outcome } from './outcome.ts';

/** What the handlers say to each other. All of it is JSON that the engine keeps. */

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
export interface NewRun {
  readonly runId: string;
  /** Of the routine. */
  readonly version: string;
  /** JSON. */
  readonly input: string;
}

export interface StartRequest extends NewRun {
  readonly rejectBusy: boolean;
}

export type Started = 'started' | 'exists' | 'busy';

export interface RunRequest extends NewRun {
  /** Key of the object that it stands in line at. */
  readonly line: string;
  /** Whether nothing with its key was open, so that it need not wait for its turn. */
  readonly isFirst: boolean;
}

/** What a signal holds: JSON; nothing when it is waited for no more. */
export interface Signalled {
  readonly text: string | null;
}

export interface SignalRequest extends Signalled {
  readonly name: string;
}

export type RestateRunRecord = { readonly state: 'unknown' | 'queued' | 'running' } | Outcome;

/** Names of the promises of a run. */
export const promises = {
  /** Given at its start, once. */
  reserved: 'reserved',
  turn: 'turn',
  /** Its outcome: whoever is first, the run or who cancels it, decides. */
  over: 'over',
  signal: (name: string): string => `signal ${name}`,
} as const;

/** The object of runs with this key, or of one without. */
export function objectKey(runId: string, key: string | undefined): string {
  return key === undefined ? `run ${runId}` : `key ${key}`;
}
