/** The works by name: see `works`. */
export type WorkName = 't50' | 't400' | 's20k' | 'j20' | 'c1000' | 'cold' | 'size';

/** What the model says in each answer of a work. */
export interface Script {
  /** Requests of one run; the last answer calls no tool. */
  readonly turns: number;
  /** Text deltas of every answer. */
  readonly deltas: number;
  /** Bytes of the JSON text of each call's arguments. */
  readonly argumentBytes: number;
  /** Bytes of that text which one delta carries. */
  readonly fragmentBytes: number;
}

/** What a work may cost. An absent bound is not set. */
export interface Budget {
  /** Most CPU time, as a multiple of the floor's in the same round. */
  readonly timesFloor?: number;
  /** Most memory at the peak, in megabytes of 10^6 bytes. */
  readonly megabytes?: number;
}

/** One measured work. */
export interface Work {
  readonly name: WorkName;
  /** What is done, in a few words. */
  readonly what: string;
  readonly script: Script;
  /** Runs under way at the same time. */
  readonly runs: number;
  /** Whether figures are shown for one turn or for the whole work. */
  readonly per: 'turn' | 'work';
  /** Which of the rounds counts: short works are judged by the best, because a neighbour's load only adds. */
  readonly judgedBy: 'best' | 'median';
  readonly budget: Budget;
}

const loop: Script = { turns: 50, deltas: 40, argumentBytes: 60, fragmentBytes: 20 };

/** The works that are measured in a process that is warm: its modules are loaded, one request has been made. */
export const works: readonly Work[] = [
  {
    name: 't50',
    what: 'a loop of 50 turns, 40 text deltas and one tool call each',
    script: loop,
    runs: 1,
    per: 'turn',
    judgedBy: 'best',
    budget: { timesFloor: 2 },
  },
  {
    name: 't400',
    what: 'the same loop of 400 turns, the whole history sent each time',
    script: { ...loop, turns: 400 },
    runs: 1,
    per: 'turn',
    judgedBy: 'median',
    budget: { timesFloor: 2, megabytes: 100 },
  },
  {
    name: 's20k',
    what: 'one answer of 20,000 text deltas, each shown to a subscriber',
    script: { turns: 1, deltas: 20_000, argumentBytes: 0, fragmentBytes: 1 },
    runs: 1,
    per: 'work',
    judgedBy: 'median',
    budget: { timesFloor: 1.5 },
  },
  {
    name: 'j20',
    what: 'one tool call with 1 MB of arguments in deltas of 20 bytes',
    script: { turns: 2, deltas: 1, argumentBytes: 1_000_000, fragmentBytes: 20 },
    runs: 1,
    per: 'work',
    judgedBy: 'median',
    budget: { timesFloor: 2 },
  },
  {
    name: 'c1000',
    what: '1,000 loops of 10 turns at the same time',
    script: { ...loop, turns: 10 },
    runs: 1000,
    per: 'turn',
    judgedBy: 'median',
    budget: { timesFloor: 2, megabytes: 350 },
  },
];

/** All names, in the order in which they are measured. */
export const workNames: readonly WorkName[] = [...works.map(({ name }) => name), 'cold', 'size'];

/** Most that a turn of t400 may cost, as a multiple of a turn of t50. */
export const growthBudget = 1.05;

/** What a start may take until its first request arrives, as multiples of the floor, which takes 69 ms alone. */
export const coldBudget = {
  /** For the library, above what the floor takes with the vendor's SDK loaded: 15 ms. */
  overFloorWithSdk: 0.22,
  /** For the command line: 150 ms. */
  cliTimesFloor: 2.2,
} as const;

/** Most that the code of `@cobbler/agent` and `@cobbler/provider-claude` may weigh in a program that bundles it. */
export const sizeBudget = { gzipBytes: 25_000 } as const;

/** The answer that a start is measured with. */
export const startScript: Script = { turns: 1, deltas: 2, argumentBytes: 0, fragmentBytes: 1 };

/** The answers that warm a process up. */
export const warmUpScript: Script = { turns: 2, deltas: 2, argumentBytes: 60, fragmentBytes: 20 };

/** The work of this name; `cold` and `size` are done in another way. */
export function workNamed(name: string): Work | undefined {
  return works.find((work) => work.name === name);
}
