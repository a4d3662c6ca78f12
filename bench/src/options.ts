import { parseArgs } from 'node:util';
import type { WorkName } from './work.ts';
import { workNames } from './work.ts';

/** The options of the command line. */
export interface Options {
  /** True to print only the help. */
  readonly help: boolean;
  readonly works: readonly WorkName[];
  readonly rounds: number;
  /** True to measure the other libraries too; false for only the floor and Cobbler. */
  readonly peers: boolean;
  /** True if an exceeded budget is a failure. */
  readonly strict: boolean;
  /** The file for all measurements, as JSON. */
  readonly json: string | undefined;
  /** A file of measurements to show instead of measuring. */
  readonly from: string | undefined;
  /** The page whose tables are replaced. */
  readonly write: string | undefined;
  /**
   * The directory for a CPU profile of each process. Profiling takes time, so the measurements are then not
   * meaningful.
   */
  readonly profile: string | undefined;
  /** False to measure the existing build. */
  readonly build: boolean;
}

const allWorks = workNames.join(',');

export const help: string = `npm run bench -- [options]

Measures the cost of Cobbler, of a minimal program that does the same job (the floor), and of other libraries, with a
scripted model in a separate process. Prints a table with the ratio and the budget of each row. Exits with 1 if a budget
is exceeded.

  --works LIST      workloads to measure, separated by commas (${allWorks})
  --rounds N        number of rounds (5)
  --peers none      measure only the floor and Cobbler
  --json FILE       store all measurements in FILE
  --from FILE       show the measurements in FILE, and measure nothing
  --write PAGE      replace the tables in PAGE, between its two marks
  --no-strict       exit with 0 even if a budget is exceeded
  --no-build        measure the existing build
  --profile FOLDER  write CPU profiles of all processes; the measurements are then not meaningful

  npm run bench -- --works t50,s20k --peers none            a quick test, about a minute
  npm run bench -- --json bench/results/library.json --write docs/performance.md
  npm run bench -- --from bench/results/library.json --write docs/performance.md

See docs/performance.md for the method and for how to read the results.
`;

/**
 * Parses the options.
 * @throws Error for invalid arguments.
 */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    allowNegative: true,
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      works: { type: 'string', default: allWorks },
      rounds: { type: 'string', default: '5' },
      peers: { type: 'string', default: 'all' },
      strict: { type: 'boolean', default: true },
      json: { type: 'string' },
      from: { type: 'string' },
      write: { type: 'string' },
      profile: { type: 'string' },
      build: { type: 'boolean', default: true },
    },
  });
  const rounds = Number(values.rounds);
  if (!Number.isSafeInteger(rounds) || rounds < 1)
    throw new Error(`--rounds cannot be ${values.rounds}. Use 1 or more.`);
  if (values.peers !== 'all' && values.peers !== 'none') {
    throw new Error(`--peers cannot be ${values.peers}. Use all or none.`);
  }
  if (values.from !== undefined && values.json !== undefined) {
    throw new Error('--from and --json cannot be used together. Remove one of them.');
  }
  return {
    help: values.help,
    works: worksOf(values.works),
    rounds,
    peers: values.peers === 'all',
    strict: values.strict,
    json: values.json,
    from: values.from,
    write: values.write,
    profile: values.profile,
    build: values.build,
  };
}

function worksOf(list: string): WorkName[] {
  const asked = list.split(',').map((name) => name.trim());
  const unknown = asked.find((name) => !workNames.some((known) => known === name));
  if (unknown !== undefined)
    throw new Error(`There is no workload ${unknown}. Use one or more of: ${workNames.join(', ')}.`);
  return workNames.filter((name) => asked.includes(name));
}
