/** The names of the workloads: see `works`. */
export type WorkName = 't50' | 't400' | 's20k' | 'j20' | 'c1000' | 'waiting' | 'cold' | 'size';

/** The shape of the model's responses in a workload. */
export interface Script {
  /** Number of requests per run; the last response calls no tool. */
  readonly turns: number;
  /** Number of text deltas per response. */
  readonly deltas: number;
  /** Bytes of the JSON arguments of each call. */
  readonly argumentBytes: number;
  /** Bytes of the arguments per delta. */
  readonly fragmentBytes: number;
}

/** The budget of a workload. An absent bound is not checked. */
export interface Budget {
  /** Maximum CPU time, as a multiple of the floor's in the same round. */
  readonly timesFloor?: number;
  /** Maximum peak memory, as a multiple of the floor's in the same round. */
  readonly memoryTimesFloor?: number;
}

/** One measured workload. */
export interface Work {
  readonly name: WorkName;
  /** A short description. */
  readonly what: string;
  readonly script: Script;
  /** Number of concurrent runs. */
  readonly runs: number;
  /** The unit of the results: one turn or the whole workload. */
  readonly per: 'turn' | 'work';
  /** The round that counts: short workloads use the best one, because other load on the machine only adds time. */
  readonly judgedBy: 'best' | 'median';
  readonly budget: Budget;
}

const loop: Script = { turns: 50, deltas: 40, argumentBytes: 60, fragmentBytes: 20 };

/** The workloads that are measured in a warm process: its modules are loaded and one request was sent. */
export const works: readonly Work[] = [
  {
    name: 't50',
    what: 'a loop of 50 turns, 40 text deltas and one tool call each',
    script: loop,
    runs: 1,
    per: 'turn',
    judgedBy: 'best',
    budget: { timesFloor: 1.4 },
  },
  {
    name: 't400',
    what: 'the same loop of 400 turns, with the complete history in each request',
    script: { ...loop, turns: 400 },
    runs: 1,
    per: 'turn',
    judgedBy: 'median',
    budget: { timesFloor: 1.4, memoryTimesFloor: 1.05 },
  },
  {
    name: 's20k',
    what: 'one response of 20,000 text deltas, each sent to a subscriber',
    script: { turns: 1, deltas: 20_000, argumentBytes: 0, fragmentBytes: 1 },
    runs: 1,
    per: 'work',
    judgedBy: 'median',
    budget: { timesFloor: 1 },
  },
  {
    name: 'j20',
    what: 'one tool call with 1 MB of arguments in deltas of 20 bytes',
    script: { turns: 2, deltas: 1, argumentBytes: 1_000_000, fragmentBytes: 20 },
    runs: 1,
    per: 'work',
    judgedBy: 'median',
    budget: { timesFloor: 1 },
  },
  {
    name: 'c1000',
    what: '1,000 concurrent loops of 10 turns',
    script: { ...loop, turns: 10 },
    runs: 1000,
    per: 'turn',
    judgedBy: 'median',
    budget: { timesFloor: 1.4, memoryTimesFloor: 1.3 },
  },
];

/** All names in the order of measurement. */
export const workNames: readonly WorkName[] = [...works.map(({ name }) => name), 'waiting', 'cold', 'size'];

/** Maximum cost of a turn of t400, as a multiple of a turn of t50. */
export const growthBudget = 1.05;

/** Maximum time from a start to the arrival of its first request, as a multiple of the floor's. */
export const coldBudget = { library: 1.3, cli: 2.2 } as const;

/** Maximum heap of a run that waits for a response, as a multiple of the floor's. */
export const waitingBudget = 1.6;

/** Maximum size that `@cobbler/agent` and `@cobbler/provider-claude` add to the start of a program that bundles them. */
export const sizeBudget = { gzipBytes: 30_000 } as const;

/** The response for measuring a start. */
export const startScript: Script = { turns: 1, deltas: 2, argumentBytes: 0, fragmentBytes: 1 };

/** The responses for warming up a process. */
export const warmUpScript: Script = { turns: 2, deltas: 2, argumentBytes: 60, fragmentBytes: 20 };

/** Returns the workload with this name; `waiting`, `cold` and `size` are measured in other ways. */
export function workNamed(name: string): Work | undefined {
  return works.find((work) => work.name === name);
}
