import type { Stage } from './stage.ts';

/** A case of the executor's contract before it is bound to a store. */
export interface ExecutorCase {
  readonly group: string;
  readonly name: string;
  run(stage: Stage): Promise<void>;
}

/** Defines the cases of one group. */
export function group(name: string): (what: string, run: (stage: Stage) => Promise<void>) => ExecutorCase {
  return (what, run) => ({ group: name, name: what, run });
}
