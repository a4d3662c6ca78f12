import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { textOf } from './answer.ts';
import type { ContestantName, Outcome } from './contestant.ts';
import type { Cost } from './job.ts';
import { machineTime } from './model-server.ts';
import type { Programs, ServerProcess } from './processes.ts';
import { runJob, runProgram, runWaiting } from './processes.ts';
import type { Work, WorkName } from './work.ts';
import { startScript, warmUpScript } from './work.ts';

/**
 * The measured subjects: the contestants; for starts also the command line, in a home directory with and without its
 * compile cache; for sizes also Cobbler together with the client of the service.
 */
export type Entrant = ContestantName | 'cobbler-cli' | 'cobbler-cli-first' | 'cobbler-and-sdk';

/** One measurement. */
export interface Sample {
  readonly work: WorkName;
  readonly round: number;
  readonly entrant: Entrant;
  /** For starts: time from the start of the process to the arrival of its first request, in milliseconds. */
  readonly startMs?: number;
  /** For waiting runs: the heap of each, in bytes. */
  readonly heapBytes?: number;
  /** For all other workloads. */
  readonly cost?: Cost;
  /** Number of requests that the server received. */
  readonly requests: number;
  /** Bytes of the bodies that the server received. */
  readonly sentBytes: number;
}

/** The environment of the measurements. */
export interface Bench {
  readonly programs: Programs;
  readonly server: ServerProcess;
  /** The built command line, if there is one. */
  readonly cli?: string | undefined;
  /** The home directory that all warm starts use. */
  readonly home: string;
  /** The directory for CPU profiles, if requested. */
  readonly profile?: string | undefined;
}

/** The identity of a measurement. */
export interface Place {
  readonly work: WorkName;
  readonly round: number;
  readonly entrant: Entrant;
}

/** Measures one workload of one contestant. */
export async function sample(bench: Bench, work: Work, place: Place): Promise<Sample> {
  const { entrant } = place;
  if (!isContestant(entrant)) throw new Error(`${entrant} does not perform ${work.name}.`);
  const id = jobId(place);
  const turns = Math.max(work.script.turns, warmUpScript.turns);
  const job = {
    contestant: entrant,
    url: bench.server.url(work.name, id),
    turns,
    runs: work.runs,
    warm: true,
    profile: bench.profile && join(bench.profile, `${id}.cpuprofile`),
  };
  const done = await runJob({ programs: bench.programs, job });
  const { requests, bytes } = await bench.server.received(id);
  checkDone(work, entrant, { ...done, requests });
  const { cpuMs, wallMs, peakBytes } = done;
  return { ...place, cost: { cpuMs, wallMs, peakBytes }, requests, sentBytes: bytes };
}

function isContestant(entrant: Entrant): entrant is ContestantName {
  return !/^cobbler-/.test(entrant);
}

/** Checks that all entrants did the same work, because otherwise their results must not be compared. */
function checkDone(
  { name, script, runs }: Work,
  entrant: Entrant,
  did: Outcome & { requests: number },
): void {
  const turns = runs * script.turns;
  const text = textOf(script);
  const isSame =
    did.turns === turns &&
    did.requests === turns &&
    did.toolCalls === turns - runs &&
    did.shown === turns * text.length &&
    did.text === text;
  if (!isSame)
    throw new Error(
      `${entrant} did not perform ${name} correctly: ${JSON.stringify({ ...did, text: did.text.length })}`,
    );
}

/** Number of runs that wait at the same time. */
const waiting = 1000;

/** Measures the heap of runs that wait. */
export async function sampleWaiting({ programs }: Bench, place: Place): Promise<Sample> {
  const { entrant } = place;
  if (!isContestant(entrant)) throw new Error(`${entrant} cannot wait.`);
  const heapBytes = await runWaiting({ programs, job: { contestant: entrant, waiting } });
  return { ...place, heapBytes, requests: waiting, sentBytes: Number.NaN };
}

/** Measures one start. */
export async function sampleStart(bench: Bench, place: Place): Promise<Sample> {
  const id = jobId(place);
  const url = bench.server.url('cold', id);
  const began = await start(bench, place.entrant, url);
  const { firstAt, requests, bytes } = await bench.server.received(id);
  if (firstAt === undefined) throw new Error(`${place.entrant} sent no request.`);
  return { ...place, startMs: firstAt - began, requests, sentBytes: bytes };
}

/** Starts the command line once, to fill the compile cache in its home directory. */
export async function startOnce(bench: Bench): Promise<void> {
  await start(bench, 'cobbler-cli', bench.server.url('cold', 'before'));
}

/** Starts an entrant and waits until it ends. Resolves with the start time. */
async function start({ programs, cli = '', home }: Bench, entrant: Entrant, url: string): Promise<number> {
  if (isContestant(entrant)) {
    const job = { contestant: entrant, url, turns: startScript.turns, runs: 1, warm: false };
    const began = machineTime();
    await runJob({ programs, job });
    return began;
  }
  if (entrant === 'cobbler-cli') return startCli(cli, home, url);
  const fresh = mkdtempSync(join(tmpdir(), 'cobbler-bench-'));
  try {
    return await startCli(cli, fresh, url);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** Starts the command line in a home directory of the benchmark, so that no user configuration or project is read. */
async function startCli(cli: string, home: string, url: string): Promise<number> {
  const env = { HOME: home, ANTHROPIC_API_KEY: 'key' };
  const args = [cli, 'run', '--base-url', url, '-m', 'claude:claude-sonnet-5-5', 'Say hello.'];
  const began = machineTime();
  const { code, stderr } = await runProgram(args, { env, cwd: home });
  if (code !== 0) throw new Error(`The command line failed with exit code ${code}:\n${stderr.trim()}`);
  return began;
}

function jobId({ work, round, entrant }: Place): string {
  return `${work}-${round}-${entrant}`;
}
