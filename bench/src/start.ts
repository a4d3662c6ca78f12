// `npm run bench -- start [rounds]`: how long the built command takes to show something, compared with `node -e 0` in the
// same rounds. Needs `script` of util-linux, which provides the terminal. Exits with 1 if a goal is missed.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { model } from './answer.ts';

interface Start {
  readonly name: string;
  readonly args: readonly string[];
  /** What ends the measurement: this text on the screen, or without it the end of the process. */
  readonly until?: RegExp;
  /** Maximum of the median, as a multiple of `node -e 0`. */
  readonly goal?: number;
}

const main = fileURLToPath(new URL('../../apps/cli/dist/main.js', import.meta.url));

const starts: readonly Start[] = [
  { name: 'node -e 0', args: ['-e', '0'] },
  { name: 'cobbler --version', args: [main, '--version'], goal: 1.5 },
  { name: 'cobbler "task": first byte', args: [main, 'task'], until: /\S/, goal: 3.75 },
  { name: 'cobbler chat: ready', args: [main, 'chat'], until: /describe a task/, goal: 6.25 },
];

const rounds = Number(process.argv[2] ?? 15);
const home = mkdtempSync(join(tmpdir(), 'cobbler-start-'));
const env = {
  ...{ PATH: process.env['PATH'] ?? '', HOME: home, LANG: 'C.UTF-8', TERM: 'xterm-256color' },
  // No request is ever answered: the measurement ends before there could be a response.
  ...{ ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', COBBLER_MODEL: `claude:${model}` },
};

/** Runs a command in a terminal. Resolves to the time until it has shown what is waited for, in milliseconds. */
async function timeOf({ args, until }: Start): Promise<number> {
  const line = [process.execPath, ...args].map((word) => `'${word}'`).join(' ');
  const began = performance.now();
  const child = spawn('script', ['-qec', line, '/dev/null'], {
    env,
    cwd: home,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const ended = new Promise<void>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', () => resolve());
  });
  let text = '';
  const shown = new Promise<number>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      if (until?.test(text) === true) resolve(performance.now() - began);
    });
    if (until === undefined) void ended.then(() => resolve(performance.now() - began));
  });
  const failed = ended.then(() => Promise.reject(new Error(`${line} ended early:\n${text}`)));
  failed.catch(() => {});
  const ms = await Promise.race(until === undefined ? [shown] : [shown, failed]);
  child.kill('SIGKILL');
  await ended;
  return ms;
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const times = new Map(starts.map(({ name }) => [name, [] as number[]]));
try {
  // The first two rounds fill the caches of the disk and of Node.
  for (let round = -2; round < rounds; round += 1)
    for (const start of starts) {
      const ms = await timeOf(start);
      if (round >= 0) times.get(start.name)?.push(ms);
    }
} finally {
  rmSync(home, { recursive: true, force: true });
}
const floor = median(times.get('node -e 0') ?? []);
let missed = 0;
for (const { name, goal } of starts) {
  const ms = median(times.get(name) ?? []);
  const isMissed = goal !== undefined && ms / floor > goal;
  missed += isMissed ? 1 : 0;
  const verdict = goal === undefined ? '' : `<= ${goal} ${isMissed ? 'NOT MET' : 'met'}`;
  process.stdout.write(
    `${name.padEnd(28)} ${ms.toFixed(0).padStart(5)} ms ${(ms / floor).toFixed(2).padStart(6)} x  ${verdict}\n`,
  );
}
process.exitCode = missed > 0 ? 1 : 0;
