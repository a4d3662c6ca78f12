import { parseArgs } from 'node:util';
import type { WorkName } from './work.ts';
import { workNames } from './work.ts';

/** What the command line asks for. */
export interface Options {
  readonly works: readonly WorkName[];
  readonly rounds: number;
  /** Whether the peers are measured too, or only the floor and Cobbler. */
  readonly peers: boolean;
  /** A file for all measurements, as JSON. */
  readonly json: string | undefined;
  /** A folder for a CPU profile of each process; profiling costs time, so the figures then mean little. */
  readonly profile: string | undefined;
  /** False: measure what is built already. */
  readonly build: boolean;
}

export const usage: string = `npm run bench -- [--works ${workNames.join(',')}] [--rounds 5] [--peers all|none]
  [--json FILE] [--profile FOLDER] [--no-build]`;

/** @throws Error that says what is wrong with the arguments. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    allowNegative: true,
    options: {
      works: { type: 'string', default: workNames.join(',') },
      rounds: { type: 'string', default: '5' },
      peers: { type: 'string', default: 'all' },
      json: { type: 'string' },
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
  return {
    works: worksOf(values.works),
    rounds,
    peers: values.peers === 'all',
    json: values.json,
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
