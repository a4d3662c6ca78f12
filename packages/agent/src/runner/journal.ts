import { AgentError } from '../values/errors.ts';

/** A run that this runner works on, until another runner takes it over. */
export interface ClaimedRun {
  readonly runId: string;
  /** Larger than that of every earlier owner: what is written with an older one is refused. */
  readonly epoch: number;
  readonly version: string;
  /** JSON. */
  readonly input: string;
}

export interface NewRun {
  readonly runId: string;
  readonly key: string | undefined;
  readonly version: string;
  /** JSON. */
  readonly input: string;
}

/** What a journal holds under the name of a step. */
export type JournalEntry =
  | { readonly kind: 'value' | 'error'; readonly text: string }
  /** When a sleep or a wait is over, in milliseconds since 1970. */
  | { readonly kind: 'sleep' | 'wait'; readonly at: number };

/** How a run ended, as JSON of its output or of its error. */
export interface RunEndState {
  readonly state: 'done' | 'failed';
  readonly text: string;
}

/** Where a run stands. */
export type RunRecord =
  | { readonly state: 'queued' }
  | { readonly state: 'running'; readonly epoch: number }
  | { readonly state: 'cancelled' }
  | RunEndState;

export type Started =
  | { readonly result: 'exists' }
  | { readonly result: 'busy' }
  | { readonly result: 'started'; readonly run?: ClaimedRun };

/** What became free for this runner when a run ended. */
export interface Freed {
  readonly isOver: boolean;
  /** The next run with the same key, claimed. */
  readonly next?: ClaimedRun;
}

/** How long ended runs are kept. */
export interface RunRetention {
  /** Default 30 days, in milliseconds. */
  readonly maxAgeMs?: number;
  /** How many at most. Default 10,000. */
  readonly maxRuns?: number;
}

/**
 * What runs are made of, on one machine. Reads are answered at once. A write is done, all of it or nothing, when
 * its promise resolves; those of an epoch that is no longer the run's reject with code `fenced`.
 */
export interface Journal {
  readonly durable: boolean;
  /** How often to look whether another process has changed something, in milliseconds; nothing when there is none. */
  readonly lookMs?: number;
  /** Records a run, and claims it when nothing with its key is before it. */
  start(run: NewRun, rejectBusy: boolean): Promise<Started>;
  /** Claims some free runs that are first of their key; none when there are none. */
  claimFree(): Promise<readonly ClaimedRun[]>;
  /** Gives a run back unfinished. */
  release(run: ClaimedRun): Promise<void>;
  find(runId: string, name: string): JournalEntry | undefined;
  record(run: ClaimedRun, name: string, entry: JournalEntry): Promise<void>;
  finish(run: ClaimedRun, outcome: RunEndState): Promise<Freed>;
  cancel(runId: string): Promise<Freed>;
  /** Keeps a signal. False: the run is not open, or this name has had its signal or is waited for no more. */
  signal(runId: string, name: string, text: string): Promise<boolean>;
  /** A signal's JSON; null when waiting for it was given up; undefined while it can come. */
  signalled(runId: string, name: string): string | null | undefined;
  /** Gives up waiting unless the signal is there: whichever was first stays. */
  giveUp(run: ClaimedRun, name: string): Promise<string | null>;
  standing(runId: string): RunRecord | undefined;
  /** Whether another process has written since this was last asked. */
  hasNews(): boolean;
  /** Gives back all runs. */
  close(): Promise<void>;
}

/** What a writer hears whose run another process has taken over, or that was cancelled. */
export function fencedRun(runId: string): AgentError {
  const message = `Run ${runId} is no longer this runner's to work on.`;
  return new AgentError({ kind: 'invalid', code: 'fenced', message });
}

/** The options with what is not given filled in. @throws AgentError `invalid`, code `retention`. */
export function filledRetention({ maxAgeMs = 30 * 86_400_000, maxRuns = 10_000 }: RunRetention = {}): {
  readonly maxAgeMs: number;
  readonly maxRuns: number;
} {
  if (maxAgeMs >= 0 && maxRuns >= 1) return { maxAgeMs, maxRuns };
  const message = 'Ended runs are kept for 0 ms or more, and at least 1 of them.';
  throw new AgentError({ kind: 'invalid', code: 'retention', message });
}
