// Runs the executor in a simulated world with random faults, and checks the guarantees after each run.
import { parseArgs } from 'node:util';
import type { Simulation } from '@cobbler/conformance/simulation';
import { shrinkSimulation, simulate } from '@cobbler/conformance/simulation';
import { findPlanted } from './planted.ts';

const usage = `npm run verify -- simulate [--seeds N] [--from N]
npm run verify -- simulate --seed N
npm run verify -- simulate --planted [--only WORDS]

Simulates whole runs with random faults in the network, the model's responses, the store, the tools, the
users, the readers and the process. Exits with 1 if a run breaks a guarantee.

  --seeds N      number of seeds (default 1000); the first failing seed is shrunk and printed
  --from N       the first seed (default 1)
  --seed N       one seed, with everything that happens; the same every time
  --planted      plant one bug at a time, and print the seed that detects it
  --only WORDS   only planted bugs whose name contains these words
  --help         print this help

Seeds are independent: to use several processes, start each with another --from.`;

const options = {
  seeds: { type: 'string', default: '1000' },
  from: { type: 'string', default: '1' },
  seed: { type: 'string' },
  planted: { type: 'boolean', default: false },
  only: { type: 'string', default: '' },
  help: { type: 'boolean', short: 'h', default: false },
} as const;

/** Time between two lines of progress, in milliseconds. */
const progressMs = 10_000;

const rejected: unknown[] = [];

/** Returns the rejections that were not handled. Node reports them in a turn of the event loop. */
async function unhandled(): Promise<readonly unknown[]> {
  await new Promise((resolve) => setImmediate(resolve));
  return rejected.splice(0);
}

async function main(): Promise<number> {
  const { values } = parseArgs({ options });
  if (values.help) {
    print(usage);
    return 0;
  }
  if (values.planted) return (await findPlanted(values.only)) ? 0 : 1;
  process.on('unhandledRejection', (reason) => rejected.push(reason));
  if (values.seed !== undefined) return await playOne(whole('seed', values.seed));
  return await playMany(whole('from', values.from), whole('seeds', values.seeds));
}

async function playOne(seed: number): Promise<number> {
  const simulation = await simulate(seed, { unhandled });
  if (simulation.violation !== undefined) return await report(simulation);
  print(simulation.trace.join('\n'));
  print(`Seed ${seed} keeps every promise: ${simulation.steps} steps, ${simulation.choices.length} choices.`);
  return 0;
}

async function playMany(from: number, seeds: number): Promise<number> {
  const started = performance.now();
  const perSecond = (count: number) => Math.round((count / (performance.now() - started)) * 1000);
  let failures = 0;
  let first: Simulation | undefined;
  let steps = 0;
  let shownAt = started;
  for (let seed = from; seed < from + seeds; seed += 1) {
    const simulation = await simulate(seed, { unhandled });
    steps += simulation.steps;
    if (simulation.violation !== undefined) {
      first ??= simulation;
      failures += 1;
      print(`Seed ${seed} breaks ${simulation.violation.rule}.`);
    }
    if (performance.now() - shownAt < progressMs) continue;
    shownAt = performance.now();
    const done = seed - from + 1;
    process.stderr.write(
      `${done} of ${seeds} seeds, ${failures} failures, ${perSecond(done)} seeds a second\n`,
    );
  }
  print(
    `${seeds} seeds from ${from}: ${failures} failures, ${perSecond(seeds)} seeds and ${perSecond(steps)} steps a second.`,
  );
  if (first === undefined) {
    print('Every promise was kept.');
    return 0;
  }
  return await report(first);
}

/** Prints the shortest trace found that breaks the same promise. */
async function report(broken: Simulation): Promise<number> {
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
  if (text !== '' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`--${name} is ${JSON.stringify(text)}. Use a whole number, such as --${name} 100000.`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`Cannot simulate: ${message}\nSee: npm run verify -- simulate --help\n`);
    process.exitCode = 2;
  },
);
