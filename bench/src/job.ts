import { readFileSync, writeFileSync } from 'node:fs';
import { prompts } from './answer.ts';
import type { Contestant, ContestantName, OpenContestant, Outcome, Target } from './contestant.ts';

/** What one measured process has to do. */
export interface Job extends Target {
  readonly contestant: ContestantName;
  /** Runs to have under way at the same time. */
  readonly runs: number;
  /** Whether a short request is made before the clock starts. */
  readonly warm: boolean;
  /** A file for a CPU profile of what is measured, when one is wanted. */
  readonly profile?: string | undefined;
}

/** What it cost. */
export interface Cost {
  /** CPU time of the whole process from the end of warming up, user and system, all threads, in ms. */
  readonly cpuMs: number;
  readonly wallMs: number;
  /** Largest resident memory the process ever had, in bytes. */
  readonly peakBytes: number;
}

/** What it did and what that cost. Of several runs, outcomes are added up. */
export interface Done extends Outcome, Cost {}

/** Loads a contestant; the others' modules stay unread. */
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
 * Does a job in this process.
 * @throws Error when runs of the same script end differently.
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
 * A run of two turns, so that all modules are loaded and the connection is open, and a collection of what
 * loading left behind: starting is measured apart, and its garbage must not be charged to the first turns.
 */
async function warmUp(contestant: Contestant): Promise<void> {
  await contestant.run(prompts.warmUp);
  globalThis.gc?.();
}

/** Profiles this process until the returned function is called, at ten samples a millisecond. */
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
 * Linux says exactly how much memory this program had; the figure that is portable also counts what the
 * parent process held while it started this one.
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
