import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStore } from '@cobbler/agent/node';
import { bundled } from './crash-drill.ts';
import { crashOutputs, crashWorkflow, effectsOf, runnerFiles } from './runner-crash-kit.ts';

export interface RunnerCrashOptions {
  /** Kills at every nth moment. Default 1. */
  readonly every?: number;
  /** Also kills the resuming process, at every nth moment of its own. Default: never. */
  readonly again?: number;
  /** Maximum number of parallel processes. Default 3. */
  readonly parallel?: number;
}

/** The counts of a successful drill. */
export interface RunnerCrashFigures {
  /** Number of moments of all runs: around each write of the inbox and of the log, each request and each call. */
  readonly points: number;
  readonly kills: number;
  /** Number of requests and calls that ran again because the log did not have them. */
  readonly repeated: number;
}

/**
 * Kills a process that performs runs, once at each moment, and resumes the runs each time.
 * @throws Error with the failed condition and its position.
 */
export async function drillRunnerCrashes(options: RunnerCrashOptions = {}): Promise<RunnerCrashFigures> {
  const { every = 1, again, parallel = 3 } = options;
  const home = mkdtempSync(join(tmpdir(), 'cobbler-runner-crash-'));
  try {
    const child = await bundled(home, 'runner-crash-child.ts');
    const whole = await killed(child, join(home, 'whole'), 0);
    const kills: number[][] = [];
    for (let first = every; first <= whole.points; first += every) {
      kills.push([first]);
      if (again === undefined) continue;
      for (let second = 1 + (first % again); second <= whole.points; second += again)
        kills.push([first, second]);
    }
    const figures = { points: whole.points, kills: 0, repeated: 0 };
    const workers = Array.from({ length: parallel }, async () => {
      for (let next = kills.shift(); next !== undefined; next = kills.shift()) {
        const folder = join(home, next.join('-'));
        for (const at of next) if ((await killed(child, folder, at)).isKilled) figures.kills += 1;
        figures.repeated += await goneOn(folder, next);
      }
    });
    const failed = (await Promise.allSettled(workers)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    return figures;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Runs a process until it ends or kills itself. */
async function killed(
  child: string,
  folder: string,
  at: number,
): Promise<{ readonly isKilled: boolean; readonly points: number }> {
  mkdirSync(folder, { recursive: true });
  const worker = spawn(process.execPath, [child, folder, String(at)], { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [worker.stdout, worker.stderr])
    stream.on('data', (chunk) => {
      said += chunk;
    });
  const [code, signal] = await once(worker, 'close');
  if (signal !== 'SIGKILL' && code !== 0) throw new Error(`moment ${at}: the process failed: ${said}`);
  return { isKilled: signal === 'SIGKILL', points: Number(said) };
}

/** Resumes the runs, checks the results and returns how many requests and calls ran again. */
async function goneOn(folder: string, kills: readonly number[]): Promise<number> {
  const where = `killed at ${kills.join(' and ')}`;
  const hold = (holds: boolean, what: string) => {
    if (!holds) throw new Error(`${where}: ${what}`);
  };
  const recorded = await recordedRequests(runnerFiles(folder).sessions);
  const before = effectsOf(folder);
  const outputs = await crashWorkflow(folder, () => {});
  hold(
    JSON.stringify(outputs) === JSON.stringify(crashOutputs),
    `the outputs of the runs are ${JSON.stringify(outputs)}`,
  );
  const effects = effectsOf(folder);
  const after = effects.slice(before.length);
  for (const request of recorded)
    hold(!after.includes(request), `${request} was repeated although it was recorded`);
  const times = Map.groupBy(effects, (line) => line);
  let repeated = 0;
  for (const [line, { length }] of times) {
    hold(length <= (line.startsWith('once ') ? 1 : 1 + kills.length), `${line} ran ${length} times`);
    repeated += length - 1;
  }
  const second = effects.findIndex((line) => line.startsWith('request second'));
  const first = effects.findLastIndex((line) => line.startsWith('request first'));
  hold(first < second, 'the second run began before the first one had ended');
  // The lock file of a dead process is removed only at the next write, which ended runs do not need.
  const left = readdirSync(folder).filter(
    (file) => !/^((runs|sessions)\.db(-made)?|sessions\.db-owner-.*|effects\.txt)$/.test(file),
  );
  hold(left.length === 0, `files were not removed: ${left.join(', ')}`);
  return repeated;
}

/** Returns the requests whose responses a dead process has recorded in the log. */
async function recordedRequests(file: string): Promise<string[]> {
  if (!existsSync(file)) return [];
  const store = sqliteStore(file);
  try {
    const requests: string[] = [];
    for (const sessionId of ['s', 'l']) {
      const counts = new Map<string, number>();
      for (const event of await store.read(sessionId)) {
        if (event.type !== 'assistant') continue;
        const count = counts.get(event.runId) ?? 0;
        requests.push(`request ${event.runId}.${count}`);
        counts.set(event.runId, count + 1);
      }
    }
    return requests;
  } finally {
    await store.close();
  }
}
