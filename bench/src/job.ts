import { readFileSync, writeFileSync } from 'node:fs';
import { prompts } from './answer.ts';
import type { Contestant, ContestantName, OpenContestant, Outcome, Target } from './contestant.ts';

/** The job of one measured process. */
export interface Job extends Target {
  readonly contestant: ContestantName;
  /** Number of runs at the same time. */
  readonly runs: number;
  /** True to send a short request before the clock starts. */
  readonly warm: boolean;
  /** The file for a CPU profile of the measurement, if one is requested. */
  readonly profile?: string | undefined;
}

/** The cost of a job. */
export interface Cost {
  /** CPU time of the whole process after warming up, user and system, all threads, in ms. */
  readonly cpuMs: number;
  readonly wallMs: number;
  /** Peak resident memory of the process, in bytes. */
  readonly peakBytes: number;
}

/** The outcome of a job and its cost. Outcomes of several runs are added up. */
export interface Done extends Outcome, Cost {}

/** Loads a contestant, but not the modules of the others. */
export async function load(name: ContestantName): Promise<OpenContestant> {
  switch (name) {
    case 'floor':
      return (await import('./contestants/floor.ts')).open;
    case 'floor-with-sdk':
      return (await import('./contestants/floor-with-sdk.ts')).open;
    case 'anthropic-sdk':
      return (await import('./contestants/anthropic-sdk.ts')).open;
    case 'ai-sdk':
      return (await import('./contestants/ai-sdk.ts')).open;
    case 'cobbler':
      return (await import('./contestants/cobbler.ts')).open;
  }
}

/**
 * Performs a job in this process.
 * @throws Error if runs of the same script end differently.
 */
export async function perform(job: Job): Promise<Done> {
  const open = await load(job.contestant);
  const contestant = open(job);
  if (job.warm) await warmUp(contestant);
  const endProfile = job.profile === undefined ? undefined : await beginProfile(job.profile);
  const began = performance.now();
  const before = process.cpuUsage();
  const outcomes = await Promise.all(Array.from({ length: job.runs }, () => contestant.run(prompts.work)));
  const { user, system } = process.cpuUsage(before);
  const wallMs = performance.now() - began;
  await endProfile?.();
  return { ...total(outcomes), cpuMs: (user + system) / 1000, wallMs, peakBytes: peakBytes() };
}

/**
 * Performs a run of two turns and then collects garbage, so that all modules are loaded and the connection is open.
 * Start-up is measured separately, and its garbage must not be charged to the first turns.
 */
async function warmUp(contestant: Contestant): Promise<void> {
  await contestant.run(prompts.warmUp);
  globalThis.gc?.();
}

/** Profiles this process until the returned function is called, with ten samples per millisecond. */
async function beginProfile(file: string): Promise<() => Promise<void>> {
  const { Session } = await import('node:inspector/promises');
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 100 });
  await session.post('Profiler.start');
  return async () => {
    const { profile } = await session.post('Profiler.stop');
    writeFileSync(file, JSON.stringify(profile));
    session.disconnect();
  };
}

function total(outcomes: readonly Outcome[]): Outcome {
  const [first] = outcomes;
  if (first === undefined) throw new Error('There was no run.');
  if (outcomes.some(({ text }) => text !== first.text))
    throw new Error('The runs ended with different texts.');
  const sum = (value: (outcome: Outcome) => number) =>
    outcomes.reduce((whole, outcome) => whole + value(outcome), 0);
  return {
    turns: sum(({ turns }) => turns),
    toolCalls: sum(({ toolCalls }) => toolCalls),
    shown: sum(({ shown }) => shown),
    text: first.text,
  };
}

/**
 * Returns the peak memory. Linux reports exactly that of this program; the portable value also includes the memory of
 * the parent process at the start.
 */
function peakBytes(): number {
  try {
    const match = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'));
    if (match !== null) return Number(match[1]) * 1024;
  } catch {
    // Not Linux.
  }
  return process.resourceUsage().maxRSS * 1024;
}
