import type { Runner } from '@cobbler/agent/runner';

/**
 * Stores lines that workflows write. The lines survive a crash and the case can read them, for example from a
 * file, a database, a small server, or memory that runner and case share.
 */
export interface Counter {
  /** Adds a line under a name. Resolves when it is durable, with the number of lines under the name. */
  add(name: string, text: string): Promise<number>;
  /** Returns the lines under a name, in the order in which they were added. */
  list(name: string): Promise<readonly string[]>;
  /** Resolves when there is a line under the name. */
  reached(name: string): Promise<void>;
}

/** An ability that not every runner can show in a test. */
export type RunnerAbility =
  /** Closing a runner and opening it again with the same runs. */
  | 'reopen'
  /** Ending a runner as if its process had been killed. */
  | 'crash'
  /** Runs with keys. */
  | 'keys'
  /** Closing a runner permanently while runs are active. */
  | 'close'
  /** Code of a workflow that continues after its run has ended. */
  | 'afterlife'
  /** Counting the active timers. */
  | 'timers'
  /** Reopening fast enough to measure a duration across it. */
  | 'precise';

/** The environment of one case. */
export interface RunnerInstance {
  /** The lines that the workflows of this environment write. */
  readonly counter: Counter;
  /**
   * Opens a runner whose workflow is `contractWorkflow` with the counter of this environment. Called again
   * after `crash` or `close`.
   */
  open(): Promise<Runner>;
  /** Ends the last opened runner as if its process had been killed. */
  crash?(): Promise<void>;
  /** Lets time pass for the runner, by moving a clock or by waiting. */
  advance(ms: number): Promise<void>;
  /**
   * Factor by which cases lengthen a sleep that must not end before the case has done something. An engine in real time
   * needs one, because a busy machine can delay the case. Default 1.
   */
  readonly stretch?: number;
  /** The time that `advance` moves, in milliseconds. */
  now(): number;
  /** Returns the number of timers that the runner has set and that have neither fired nor been cleared. */
  timers?(): number;
  dispose(): Promise<void>;
}

/** A runner to test. */
export interface RunnerEnvironment {
  /** Name for reports. */
  readonly name: string;
  /** The abilities that the runner cannot show in a test, with the reasons. Cases that need them are off. */
  readonly lacks: Readonly<Partial<Record<RunnerAbility, string>>>;
  /**
   * Returns a new environment. Called once for each case. Run ids differ between cases, so environments may
   * share an engine.
   */
  place(): Promise<RunnerInstance> | RunnerInstance;
}
