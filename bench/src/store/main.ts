// `npm run bench -- store`: measures the SQLite store. Individual times depend on the machine and its load, so each
// is shown with a reference value from the same moments.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { runProgram } from '../processes.ts';
import type { AppendFigures, OpeningFigures, TurnFigures } from './figures.ts';
import { quantile } from './figures.ts';

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } });
const rounds = Math.max(1, Math.floor(Number(values.rounds)) || 1);
const home = mkdtempSync(join(tmpdir(), 'cobbler-bench-store-'));
const child = join(home, 'child.mjs');

async function main(): Promise<void> {
  try {
    await bundle('child.ts', child);
    const appends: AppendFigures[] = [];
    const loops: TurnFigures[] = [];
    const openings: OpeningFigures[] = [];
    for (let round = 1; round <= rounds; round += 1) {
      process.stderr.write(`bench: round ${round} of ${rounds}\n`);
      appends.push(await measured<AppendFigures>('append', round));
      loops.push(await measured<TurnFigures>('turns', round));
      openings.push(await measured<OpeningFigures>('open', round));
    }
    process.stdout.write(`${[appendText(appends), turnText(loops), openingText(openings)].join('\n')}\n`);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Builds a program, because stripping the types of sources costs time and memory. */
async function bundle(source: string, outfile: string): Promise<void> {
  await build({
    entryPoints: [fileURLToPath(new URL(source, import.meta.url))],
    conditions: ['@cobbler/source'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'error',
  });
}

async function measured<Figures>(what: string, round: number): Promise<Figures> {
  const folder = join(home, `${what}-${round}`);
  mkdirSync(folder);
  const flags = ['--expose-gc', '--disable-warning=ExperimentalWarning'];
  const { code, stdout, stderr } = await runProgram([...flags, child, what, folder]);
  if (code !== 0) throw new Error(`${what} failed:\n${stderr}`);
  rmSync(folder, { recursive: true, force: true });
  return JSON.parse(stdout) as Figures;
}

function appendText(figures: readonly AppendFigures[]): string {
  const best = least(figures, ({ storeCpu }) => storeCpu);
  const ratio = quantile(
    figures.map(({ storeCpu, floorCpu }) => storeCpu / floorCpu),
    0.5,
  );
  return [
    'append: 64 sessions, one event each at the same moment, durable (FULL)',
    row('CPU per event', `${digits(best.storeCpu)} us`, verdict(best.storeCpu <= 10, 'at most 10 us')),
    row(
      'of the floor',
      `${digits(best.floorCpu)} us`,
      `x ${digits(ratio)}, median of the rounds; ${verdict(ratio <= 2, 'at most x 2')}`,
    ),
    row('wait, p50', `${digits(best.waits.p50)} ms`),
    row('wait, p99', `${digits(best.waits.p99)} ms`, verdict(best.waits.p99 <= 10, 'at most 10 ms')),
    row('wait, most', `${digits(best.waits.most)} ms`),
  ].join('\n');
}

function turnText(figures: readonly TurnFigures[]): string {
  const best = least(figures, ({ sqlite }) => sqlite.best);
  const median = least(figures, ({ sqlite }) => sqlite.median);
  const added = best.sqlite.best - best.memory.best;
  return [
    't50 with a `read` tool and a model that responds immediately: CPU of one turn',
    row(
      'memory store',
      `${digits(best.memory.best)} us`,
      `median of the runs ${digits(median.memory.median)} us`,
    ),
    row(
      'SQLite store',
      `${digits(best.sqlite.best)} us`,
      `median of the runs ${digits(median.sqlite.median)} us`,
    ),
    row('added', `${digits(added)} us`, verdict(added <= 100, 'at most 100 us')),
  ].join('\n');
}

function openingText(figures: readonly OpeningFigures[]): string {
  const best = least(figures, ({ snapshotMs }) => snapshotMs);
  return [
    `opening a session of ${best.events.toLocaleString('en')} events that was never compacted`,
    row(
      'from its snapshot',
      `${digits(best.snapshotMs)} ms`,
      verdict(best.snapshotMs <= 50, 'at most 50 ms'),
    ),
    row('from its beginning', `${digits(best.wholeMs)} ms`),
    row(
      'memory',
      `${digits(best.heapBytes / 1e6)} MB`,
      `its messages as JSON: ${digits(best.messageBytes / 1e6)} MB`,
    ),
  ].join('\n');
}

/** Returns the best of the rounds, because other load on the machine only adds time. */
function least<Figures>(figures: readonly Figures[], value: (figure: Figures) => number): Figures {
  return figures.reduce((best, next) => (value(next) < value(best) ? next : best));
}

function row(name: string, value: string, note = ''): string {
  return `  ${name.padEnd(20)}${value.padStart(12)}  ${note}`.trimEnd();
}

function verdict(isKept: boolean, promise: string): string {
  return `${isKept ? 'met' : 'NOT MET'}: ${promise}`;
}

function digits(value: number): string {
  return value.toFixed(value < 10 ? 2 : 1);
}

await main();
