import type { Runner } from '@cobbler/agent/runner';

/**
 * Where routines leave traces that outlive a crash and that the case can read: a file, a database, a small server,
 * or the memory of the process when runner and case share one.
 */
export interface Counter {
  /** Adds a line under a name; resolves, once it cannot be lost, with how many there are now. */
  add(name: string, text: string): Promise<number>;
  /** The lines under a name, in the order in which they were added. */
  list(name: string): Promise<readonly string[]>;
  /** Resolves as soon as there is a line under the name. */
  reached(name: string): Promise<void>;
}

/** What not every runner can be made to show. */
export type RunnerAbility =
  /** Closing a runner and opening it again on the same runs. */
  | 'reopen'
  /** Ending a runner as if its process had been killed. */
  | 'crash'
  /** Runs with keys. */
  | 'keys'
  /** Closing a runner for good while runs are under way. */
  | 'close'
  /** Code of a routine that goes on after its run is over. */
  | 'afterlife'
  /** Telling how many timers are left. */
  | 'timers'
  /** Reopening so fast that a duration can be measured across it. */
  | 'precise';

/** Where one case plays. */
export interface RunnerInstance {
  /** The same lines that the routines of this place add to. */
  readonly counter: Counter;
  /** Opens a runner whose routine is `contractRoutine` with this place's counter; again after `crash` or `close`. */
  open(): Promise<Runner>;
  /** Ends the runner opened last as if its process had been killed. */
  crash?(): Promise<void>;
  /** Lets time pass for the runner: by moving a clock, or by waiting. */
  advance(ms: number): Promise<void>;
  /** The time that `advance` moves, in milliseconds. */
  now(): number;
  /** Timers that the runner has set and that have neither fired nor been taken back. */
  timers?(): number;
  dispose(): Promise<void>;
}

/** A runner that has to keep its promises. */
export interface RunnerEnvironment {
  /** For reports only. */
  readonly name: string;
  /** What it cannot be made to show, and why: cases that need it are off. */
  readonly lacks: Readonly<Partial<Record<RunnerAbility, string>>>;
  /** A new place. Called once for each case; ids of runs differ from case to case, so places may share an engine. */
  place(): Promise<RunnerInstance> | RunnerInstance;
}
