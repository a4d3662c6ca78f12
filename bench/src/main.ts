// `npm run bench`: measures Cobbler beside the floor and its peers. Progress goes to stderr, the table to
// stdout, every measurement to the file that `--json` names.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ContestantName } from './contestant.ts';
import type { Options } from './options.ts';
import { readOptions, usage } from './options.ts';
import { startServer } from './processes.ts';
import type { Bench, Entrant, Place, Sample } from './round.ts';
import { sample, sampleStart } from './round.ts';
import type { Row } from './summary.ts';
import { growthOf, rowsOf, startRows } from './summary.ts';
import { digits, tableOf, verdictText } from './table.ts';
import type { WorkName } from './work.ts';
import { workNamed } from './work.ts';

const folder = dirname(dirname(fileURLToPath(import.meta.url)));
const root = dirname(folder);
const cli = join(root, 'apps', 'cli', 'dist', 'main.js');

async function main(options: Options): Promise<void> {
  if (options.build && !build('bench')) throw new Error('What is to be measured does not build: see above.');
  const hasCli =
    options.works.includes('cold') && (!options.build || build('@cobbler/cli')) && existsSync(cli);
  if (options.works.includes('cold') && !hasCli) tell('the command line is not built; its start is left out');
  const dist = join(folder, 'dist');
  const programs = { child: join(dist, 'child.js'), serve: join(dist, 'serve.js'), flags: [] };
  const server = await startServer(programs);
  try {
    const bench = { programs, server, cli: hasCli ? cli : undefined, profile: folderOf(options.profile) };
    const samples = await measure(bench, options);
    if (options.json !== undefined) writeFileSync(options.json, report(options, samples));
    process.stdout.write(
      `${heading(options)}\n\n${tableOf(allRows(options.works, samples))}\n${growthText(samples)}`,
    );
  } finally {
    server.stop();
  }
}

function folderOf(profile: string | undefined): string | undefined {
  if (profile !== undefined) mkdirSync(profile, { recursive: true });
  return profile && resolve(profile);
}

/** Builds a package and what it needs, with the workspace's own tools. */
function build(name: string): boolean {
  const { status } = spawnSync('turbo', ['run', 'build', `--filter=${name}`, '--output-logs=errors-only'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  return status === 0;
}

/**
 * All rounds. Within a round every work is done by each entrant right after the other, and the order moves
 * on by one each round, so that a load from outside meets all alike.
 */
async function measure(bench: Bench, options: Options): Promise<Sample[]> {
  const samples: Sample[] = [];
  for (const { work, round } of scheduleOf(options)) {
    const entrants = entrantsFor(work, options, bench);
    const first = (round - 1) % entrants.length;
    for (const entrant of [...entrants.slice(first), ...entrants.slice(0, first)]) {
      const taken = await take(bench, { work, round, entrant });
      tell(`${work}, round ${round}: ${entrant} ${summed(taken)}`);
      samples.push(taken);
    }
  }
  return samples;
}

/** What comes when. A start is short and its time is that of the wall, so each round takes three. */
function* scheduleOf({ works, rounds }: Options): Generator<{ work: WorkName; round: number }> {
  for (let round = 0; round < rounds; round += 1) {
    for (const work of works) {
      const times = work === 'cold' ? 3 : 1;
      for (let time = 1; time <= times; time += 1) yield { work, round: round * times + time };
    }
  }
}

function take(bench: Bench, place: Place): Promise<Sample> {
  const work = workNamed(place.work);
  return work === undefined ? sampleStart(bench, place) : sample(bench, work, place);
}

function entrantsFor(work: WorkName, { peers }: Options, bench: Bench): Entrant[] {
  const names: readonly ContestantName[] = peers
    ? ['floor', 'anthropic-sdk', 'ai-sdk', 'cobbler']
    : ['floor', 'cobbler'];
  if (work !== 'cold') return [...names];
  return ['floor-with-sdk', ...names, ...(bench.cli === undefined ? [] : (['cobbler-cli'] as const))];
}

function summed({ done, startMs }: Sample): string {
  if (done === undefined) return `${digits(startMs)} ms to the first request`;
  return `${digits(done.cpuMs)} ms CPU, ${digits(done.wallMs)} ms, ${(done.peakBytes / 1e6).toFixed(0)} MB`;
}

function allRows(works: readonly WorkName[], samples: readonly Sample[]): Row[] {
  return works.flatMap((name) => {
    const own = samples.filter(({ work }) => work === name).sort(byRank);
    const work = workNamed(name);
    return work === undefined ? startRows(own) : rowsOf(work, own);
  });
}

const ranks: readonly Entrant[] = [
  'floor',
  'floor-with-sdk',
  'anthropic-sdk',
  'ai-sdk',
  'cobbler',
  'cobbler-cli',
];

function byRank(left: Sample, right: Sample): number {
  return ranks.indexOf(left.entrant) - ranks.indexOf(right.entrant) || left.round - right.round;
}

function growthText(samples: readonly Sample[]): string {
  const of = (name: WorkName) => samples.filter(({ work }) => work === name).sort(byRank);
  const short = workNamed('t50');
  const long = workNamed('t400');
  if (short === undefined || long === undefined || of('t50').length === 0) return '';
  const growths = growthOf({ work: short, samples: of('t50') }, { work: long, samples: of('t400') });
  const parts = growths.map(({ entrant, growth, verdicts }) =>
    `${entrant} ${digits(growth)} ${verdictText(verdicts)}`.trim(),
  );
  return parts.length === 0 ? '' : `\nA turn of t400 against one of t50: ${parts.join('; ')}\n`;
}

function heading({ rounds }: Options): string {
  return (
    `Node ${process.versions.node}, ${availableParallelism()} cores, ${rounds} rounds. CPU time of the client, all threads;\n` +
    't50, t400, c1000: for one turn, the others: for the work; cold: time to the first request. Compare ratios.'
  );
}

function report({ rounds, works }: Options, samples: readonly Sample[]): string {
  const about = { node: process.versions.node, cores: availableParallelism(), rounds, works };
  return `${JSON.stringify({ ...about, rows: allRows(works, samples), samples }, undefined, 1)}\n`;
}

function tell(line: string): void {
  process.stderr.write(`bench: ${line}\n`);
}

let options: Options | undefined;
try {
  options = readOptions(process.argv.slice(2));
} catch (error) {
  tell(`${error instanceof Error ? error.message : error}\n${usage}`);
  process.exitCode = 2;
}
if (options !== undefined) {
  await main(options).catch((error: unknown) => {
    tell(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  });
}
