// Plays whole runs in a world where anything may go wrong, and checks what is promised after each:
//
//   npm run verify -- simulate --seeds 10000 --from 1   many seeds; the first that breaks a promise is shrunk and told
//   npm run verify -- simulate --seed 4711              one seed, all that happens; the same every time
//   npm run verify -- simulate --planted                breaks the loop on purpose and shows which seed notices;
//                                                with --only TEXT, the bugs with that in their name
import { parseArgs } from 'node:util';
import type { Simulation } from '@cobbler/conformance/simulation';
import { shrinkSimulation, simulate } from '@cobbler/conformance/simulation';
import { findPlanted } from './planted.ts';

const options = {
  seeds: { type: 'string', default: '1000' },
  from: { type: 'string', default: '1' },
  seed: { type: 'string' },
  planted: { type: 'boolean', default: false },
  only: { type: 'string', default: '' },
} as const;

const rejected: unknown[] = [];

/** What was rejected and never handled; a turn of the event loop is when Node tells. */
async function unhandled(): Promise<readonly unknown[]> {
  await new Promise((resolve) => setImmediate(resolve));
  return rejected.splice(0);
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options });
  if (values.planted) return (await findPlanted(values.only)) ? 0 : 1;
  process.on('unhandledRejection', (reason) => rejected.push(reason));
  if (values.seed !== undefined) return await playOne(whole('seed', values.seed));
  return await playMany(whole('from', values.from), whole('seeds', values.seeds));
}

async function playOne(seed: number): Promise<number> {
  const simulation = await simulate(seed, { unhandled });
  if (simulation.violation !== undefined) return await tell(simulation);
  print(simulation.trace.join('\n'));
  print(`Seed ${seed} keeps every promise: ${simulation.steps} steps, ${simulation.choices.length} choices.`);
  return 0;
}

async function playMany(from: number, seeds: number): Promise<number> {
  const started = performance.now();
  const broken: Simulation[] = [];
  let steps = 0;
  for (let seed = from; seed < from + seeds; seed += 1) {
    const simulation = await simulate(seed, { unhandled });
    steps += simulation.steps;
    if (simulation.violation !== undefined) broken.push(simulation);
  }
  const perSecond = (count: number) => Math.round((count / (performance.now() - started)) * 1000);
  print(`${seeds} seeds from ${from}: ${perSecond(seeds)} seeds and ${perSecond(steps)} steps a second.`);
  const [first] = broken;
  if (first === undefined) {
    print('Every promise was kept.');
    return 0;
  }
  for (const { seed, violation } of broken) print(`Seed ${seed} breaks ${violation?.rule}.`);
  return await tell(first);
}

/** Tells the shortest way found to the same broken promise. */
async function tell(broken: Simulation): Promise<number> {
  const { seed, trace, violation, choices } = await shrinkSimulation(broken, { unhandled });
  print(`\nSeed ${seed}, shrunk from ${broken.choices.length} choices to ${choices.length}:`);
  print(choices.map((choice) => `          ${choice}`).join('\n'));
  print(trace.join('\n'));
  print(`\n${violation?.rule}: ${violation?.message}.`);
  print(`To see it again: npm run verify -- simulate --seed ${seed}`);
  return 1;
}

function whole(name: string, text: string): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name} takes a whole number from 0 up, not ${JSON.stringify(text)}.`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`simulate: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 2;
  },
);
