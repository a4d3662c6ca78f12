// `npm run bench -- server`: measures the cost of event streams compared with node:http alone, and the effect of
// abusive clients. Exits with 1 if a budget is exceeded. Linux only: descriptors are counted in /proc.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPrograms } from './built.ts';
import { measureFanOut } from './fan-out.ts';
import { measureIdle } from './idle.ts';
import { measureLong } from './long.ts';
import { measurePrompts } from './prompts.ts';
import type { Part } from './rows.ts';
import { isKept, partText } from './rows.ts';
import { measureSiege } from './siege.ts';

const options = {
  /** The measurements, such as `idle,siege`. Default: all. */
  only: { type: 'string', default: 'fan-out,idle,prompts,long,siege' },
  /** The file for the results. */
  json: { type: 'string' },
} as const;

async function main(): Promise<number> {
  const { values } = parseArgs({ options });
  const home = mkdtempSync(join(tmpdir(), 'cobbler-bench-server-'));
  try {
    const programs = await buildPrograms(home);
    const measures: Readonly<Record<string, () => Promise<Part>>> = {
      'fan-out': () => measureFanOut(programs, home, { clients: 1_000, rounds: 15, frames: 30 }),
      idle: () => measureIdle(programs, home, { clients: 2_000, rounds: 5, before: 1_000 }),
      prompts: () => measurePrompts(programs, home, { clients: 2_000, prompts: 30 }),
      long: () => measureLong(programs, home, { events: 10_000, readers: 20 }),
      siege: () => measureSiege(programs, home, { times: 10, drops: 500, stalled: 3, ms: 25_000 }),
    };
    const parts: Part[] = [];
    for (const name of values.only.split(',')) {
      process.stderr.write(`bench: ${name}\n`);
      const measure = measures[name];
      if (measure === undefined)
        throw new Error(`--only cannot be ${name}. Use one or more of: ${Object.keys(measures).join(', ')}.`);
      parts.push(await measure());
      process.stdout.write(`${partText(parts.at(-1) ?? { title: '', rows: [] })}\n`);
    }
    if (values.json !== undefined) keep(values.json, parts);
    return parts.every(({ rows }) => rows.every(isKept)) ? 0 : 1;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function keep(file: string, parts: readonly Part[]): void {
  const day = new Date().toISOString().slice(0, 10);
  const where = { node: process.versions.node, cores: availableParallelism(), day };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify({ ...where, parts }, null, 2)}\n`);
}

main().then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(
      `bench: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`,
    );
    process.exitCode = 1;
  },
);
