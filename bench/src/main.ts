// `npm run bench`: compares Cobbler with the floor and other libraries. Progress goes to stderr, the table to stdout.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { entrantsFor, measure } from './measure.ts';
import type { Options } from './options.ts';
import { help, readOptions } from './options.ts';
import { withBlock } from './page.ts';
import { startServer } from './processes.ts';
import type { Report } from './report.ts';
import { readReport, reportText } from './report.ts';
import type { Sample } from './round.ts';
import { reachedFrom, sizesOf } from './size.ts';
import { missedIn, rowsIn } from './summary.ts';
import { markdownOf, textOf } from './table.ts';

const folder = dirname(dirname(fileURLToPath(import.meta.url)));
const root = dirname(folder);
const cli = join(root, 'apps', 'cli', 'dist', 'main.js');

async function main(options: Options): Promise<number> {
  const { json, write } = options;
  // Fail before the measurements, which take a quarter of an hour, not after them.
  if (write !== undefined) withBlock(readFileSync(write, 'utf8'), '');
  const report =
    options.from === undefined ? await measured(options) : readReport(readFileSync(options.from, 'utf8'));
  const text = textOf(report);
  if (json !== undefined) {
    mkdirSync(dirname(json), { recursive: true });
    writeFileSync(json, reportText(report));
    writeFileSync(json.replace(/(\.json)?$/, '.txt'), text);
  }
  if (write !== undefined) {
    // Use the stored form, so that the page is the same when it is written from the file later.
    const kept = readReport(reportText(report));
    writeFileSync(write, withBlock(readFileSync(write, 'utf8'), markdownOf(kept)));
  }
  process.stdout.write(text);
  return options.strict && missedIn(rowsIn(report)).length > 0 ? 1 : 0;
}

async function measured(options: Options): Promise<Report> {
  const { works, rounds, peers } = options;
  if (options.build && !build('bench'))
    throw new Error('The packages to measure cannot be built: see above.');
  const weighs = works.includes('size');
  return {
    node: process.versions.node,
    cores: availableParallelism(),
    day: new Date().toISOString().slice(0, 10),
    rounds,
    samples: works.some((work) => work !== 'size') ? await samplesOf(options) : [],
    sizes: weighs ? await sizesOf(entrantsFor('size', { peers }, false), folder) : [],
    reached: weighs ? await reachedFrom('@cobbler/agent', folder) : [],
  };
}

async function samplesOf(options: Options): Promise<Sample[]> {
  const { works, build: mayBuild } = options;
  const hasCli = works.includes('cold') && (!mayBuild || build('@cobbler/cli')) && existsSync(cli);
  if (works.includes('cold') && !hasCli) tell('the command line is not built; its start is not measured');
  const dist = join(folder, 'dist');
  const programs = { child: join(dist, 'child.js'), serve: join(dist, 'serve.js'), flags: [] };
  const home = mkdtempSync(join(tmpdir(), 'cobbler-bench-home-'));
  const server = await startServer(programs);
  try {
    const profile = folderOf(options.profile);
    return await measure(
      { programs, server, cli: hasCli ? cli : undefined, home, profile },
      { ...options, tell },
    );
  } finally {
    server.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

function folderOf(profile: string | undefined): string | undefined {
  if (profile !== undefined) mkdirSync(profile, { recursive: true });
  return profile && resolve(profile);
}

/** Builds a package and its dependencies with the workspace's own tools. */
function build(name: string): boolean {
  const { status } = spawnSync('turbo', ['run', 'build', `--filter=${name}`, '--output-logs=errors-only'], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  return status === 0;
}

function tell(line: string): void {
  process.stderr.write(`bench: ${line}\n`);
}

/** Resolves with the exit code: 1 if something fails or a budget is exceeded, 2 for invalid options. */
async function run(args: readonly string[]): Promise<number> {
  let options: Options;
  try {
    options = readOptions(args);
  } catch (error) {
    tell(`${messageOf(error)}\nSee: npm run bench -- --help`);
    return 2;
  }
  if (options.help) {
    process.stdout.write(help);
    return 0;
  }
  try {
    return await main(options);
  } catch (error) {
    tell(messageOf(error));
    return 1;
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

process.exitCode = await run(process.argv.slice(2));
