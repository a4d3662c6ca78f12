import { parseArgs } from 'node:util';
import type { WorkName } from './work.ts';
import { workNames } from './work.ts';

/** What the command line asks for. */
export interface Options {
  /** Whether only the help is wanted. */
  readonly help: boolean;
  readonly works: readonly WorkName[];
  readonly rounds: number;
  /** Whether the peers are measured too, or only the floor and Cobbler. */
  readonly peers: boolean;
  /** Whether a missed budget is a failure. */
  readonly strict: boolean;
  /** A file for all measurements, as JSON. */
  readonly json: string | undefined;
  /** A file of measurements to show instead of making new ones. */
  readonly from: string | undefined;
  /** A page whose tables are to be written anew. */
  readonly write: string | undefined;
  /** A folder for a CPU profile of each process; profiling costs time, so the figures then mean little. */
  readonly profile: string | undefined;
  /** False: measure what is built already. */
  readonly build: boolean;
}

const allWorks = workNames.join(',');

export const help: string = `npm run bench -- [options]

Measures what Cobbler costs beside the least that does the job and beside its peers, against a scripted model in
a process of its own. Prints a table with the ratio and the budget of every row, and ends with 1 when one is missed.

  --works LIST      which, separated by commas (${allWorks})
  --rounds N        how often each is done, all entrants by turns (5)
  --peers none      only the floor and Cobbler
  --json FILE       keep every single measurement
  --from FILE       measure nothing, show what was kept
  --write PAGE      put the tables into a page, between its two marks
  --no-strict       end with 0 even when a budget is missed
  --no-build        measure what is built already
  --profile FOLDER  CPU profiles of all processes; the figures then mean little

  npm run bench -- --works t50,s20k --peers none            a first look, about a minute
  npm run bench -- --json bench/results/library.json --write docs/performance.md
  npm run bench -- --from bench/results/library.json --write docs/performance.md

How it is measured and how to read it: docs/performance.md
`;

/** @throws Error that says what is wrong with the arguments. */
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
    throw new Error(`--rounds is ${values.rounds}: give 1 or more.`);
  if (values.peers !== 'all' && values.peers !== 'none') {
    throw new Error(`--peers is ${values.peers}: give all or none.`);
  }
  if (values.from !== undefined && values.json !== undefined) {
    throw new Error('--from shows what --json has kept: give one of them.');
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
    throw new Error(`There is no work ${unknown}: choose from ${workNames.join(', ')}.`);
  return workNames.filter((name) => asked.includes(name));
}
