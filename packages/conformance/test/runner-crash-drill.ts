import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { bundled } from './crash-drill.ts';
import { crashOutput, crashRoutine, effectsOf, runnerFiles } from './runner-crash-kit.ts';

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
  /**
   * Number of moments of the whole run: around each write and each effect of a step, in sleeps and in waits.
   */
  readonly points: number;
  readonly kills: number;
  /** Number of steps that ran again because they had not been recorded. */
  readonly repeated: number;
}

/**
 * Kills a process that performs a run, once at each moment, and resumes the run each time.
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

/** Resumes the run, checks the result and returns how many steps ran again. */
async function goneOn(folder: string, kills: readonly number[]): Promise<number> {
  const where = `killed at ${kills.join(' and ')}`;
  const hold = (holds: boolean, what: string) => {
    if (!holds) throw new Error(`${where}: ${what}`);
  };
  const recorded = recordedSteps(runnerFiles(folder).runs);
  const before = effectsOf(folder);
  const output = await crashRoutine(folder, () => {});
  hold(
    JSON.stringify(output) === JSON.stringify(crashOutput),
    `the output of the run is ${JSON.stringify(output)}`,
  );
  const after = effectsOf(folder);
  for (const name of recorded)
    hold(before.get(name)?.length === after.get(name)?.length, `${name} ran again although it was recorded`);
  let repeated = 0;
  for (const [name, keys] of after) {
    hold(new Set(keys).size === 1, `${name} had several keys: ${keys.join(', ')}`);
    hold(keys.length <= 1 + kills.length, `${name} ran ${keys.length} times`);
    repeated += keys.length - 1;
  }
  hold(after.size === 6, `these steps ran: ${[...after.keys()].join(', ')}`);
  const left = readdirSync(folder).filter((file) => !/^(runs\.db(-made)?|effects\.txt)$/.test(file));
  hold(left.length === 0, `files were not removed: ${left.join(', ')}`);
  return repeated;
}

/** Returns the steps recorded by a dead process. Empty if it recorded none, or if the run had ended. */
function recordedSteps(file: string): string[] {
  if (!existsSync(file)) return [];
  const db = new DatabaseSync(file);
  try {
    const rows = db.prepare("SELECT name FROM steps WHERE kind IN ('value', 'error')").all();
    return rows.map(({ name }) => String(name));
  } catch {
    // The process died before it created the table.
    return [];
  } finally {
    db.close();
  }
}
