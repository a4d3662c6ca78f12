import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Event } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import { assertValidHistory, resultTexts } from '@cobbler/agent/testing';
import { build } from 'esbuild';
import { crashFiles, crashRun } from './crash-kit.ts';

export interface CrashDrillOptions {
  /** Seed of the run. Default 0. */
  readonly seed?: number;
  /** Also kills the resuming process, at every nth moment of its own. Default: never. */
  readonly again?: number;
  /** Maximum number of parallel processes. Default 3. */
  readonly parallel?: number;
}

/** The counts of a successful drill. */
export interface CrashFigures {
  /** Number of moments of the run's writes: before and after each, and before each commit. */
  readonly points: number;
  /** Number of killed processes. */
  readonly kills: number;
  /** Number of calls with an unknown outcome, of tools that must not run twice. */
  readonly unknown: number;
}

/**
 * Kills a run before and after every write and resumes it in another process each time.
 * @throws Error with the failed condition and its position.
 */
export async function drillCrashes(options: CrashDrillOptions = {}): Promise<CrashFigures> {
  const { seed = 0, again, parallel = 3 } = options;
  const home = mkdtempSync(join(tmpdir(), 'cobbler-crash-'));
  try {
    const drill = new Drill(home, await bundled(home, 'crash-child.ts'), seed);
    const points = await drill.run('whole', 0);
    const kills: number[][] = [];
    for (let first = 1; first <= points; first += 1) {
      kills.push([first]);
      if (again === undefined) continue;
      for (let second = 1 + (first % again); second <= points; second += again) kills.push([first, second]);
    }
    const workers = Array.from({ length: parallel }, async () => {
      for (let next = kills.shift(); next !== undefined; next = kills.shift()) await drill.crash(next);
    });
    const failed = (await Promise.allSettled(workers)).find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    return { points, kills: drill.kills, unknown: drill.unknown };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** The child process as one file: loading all sources for each process would take most of the time. */
export async function bundled(home: string, source: string): Promise<string> {
  const outfile = join(home, 'child.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL(source, import.meta.url))],
    conditions: ['@cobbler/source'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    logLevel: 'error',
  });
  return outfile;
}

class Drill {
  kills = 0;
  unknown = 0;
  readonly #home: string;
  readonly #child: string;
  readonly #seed: number;

  constructor(home: string, child: string, seed: number) {
    this.#home = home;
    this.#child = child;
    this.#seed = seed;
  }

  /** Runs a process until it ends or kills itself. Returns the number of moments it counted. */
  async run(name: string, killAt: number): Promise<number> {
    const folder = join(this.#home, name);
    mkdirSync(folder, { recursive: true });
    const args = [this.#child, folder, String(this.#seed), String(killAt)];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    child.stdout.on('data', (chunk) => {
      said += chunk;
    });
    child.stderr.on('data', (chunk) => {
      said += chunk;
    });
    const [code, signal] = await once(child, 'close');
    if (signal === 'SIGKILL') this.kills += 1;
    else if (code !== 0) throw new Error(`seed ${this.#seed}, ${name}: the process failed: ${said}`);
    return Number(said);
  }

  /** Kills processes one after another, then resumes the run to its end and checks the result. */
  async crash(killAt: readonly number[]): Promise<void> {
    const name = killAt.join('-');
    for (const at of killAt) await this.run(name, at);
    const folder = join(this.#home, name);
    const where = `seed ${this.#seed}, killed at ${killAt.join(' and ')}`;
    await this.#check(folder, where);
    rmSync(folder, { recursive: true });
  }

  async #check(folder: string, where: string): Promise<void> {
    const files = crashFiles(folder);
    const hold = (holds: boolean, what: string) => {
      if (!holds) throw new Error(`${where}: ${what}`);
    };
    const { status, messages } = await crashRun(files, this.#seed, () => {});
    hold(status === 'complete', `the run ended as ${status}`);
    assertValidHistory(messages);
    const store = sqliteStore(files.store);
    const events = await store.read('one');
    await store.close();
    hold(
      events.every(({ seq }, index) => seq === index + 1),
      'the sequence numbers have gaps',
    );
    for (const shown of linesOf(files.shown)) {
      const { seq } = JSON.parse(shown) as Event;
      hold(JSON.stringify(events[seq - 1]) === shown, `event ${seq} was emitted but is lost or different`);
    }
    const ran = linesOf(files.effects);
    const once = ran.filter((line) => line.startsWith('once '));
    hold(new Set(once).size === once.length, `a tool ran twice: ${once.join(', ')}`);
    for (const event of events) {
      if (event.type !== 'tool_result' || event.notRun === true) continue;
      const place = `one:${event.turn}.${event.index}`;
      const isUnknown = event.content.some(
        (part) => part.type === 'text' && part.text.includes('outcome is unknown'),
      );
      hold(
        isUnknown || ran.some((line) => line.endsWith(` ${place}`)),
        `${place} has a result but never ran`,
      );
    }
    this.unknown += resultTexts(messages).filter((text) => text.includes('outcome is unknown')).length;
    const left = readdirSync(folder).filter(
      (file) => !/^(sessions\.db(-made)?|effects\.txt|shown\.jsonl)$/.test(file),
    );
    hold(left.length === 0, `files were not removed: ${left.join(', ')}`);
  }
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  } catch {
    return [];
  }
}
