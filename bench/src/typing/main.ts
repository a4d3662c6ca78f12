// `npm run bench -- typing`: the time from a key to its echo in a chat with a session of 5,000 events, while a model
// streams. A program that only echoes with Node's readline is measured in the same moments, because other load on the
// machine delays both. Needs the built CLI, and `script` from util-linux.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runProgram } from '../processes.ts';
import { eventAt } from '../store/events.ts';
import { quantile } from '../store/figures.ts';
import { startEndlessModel } from './endless-model.ts';
import type { TerminalProgram } from './terminal.ts';
import { inTerminal } from './terminal.ts';

const { values } = parseArgs({
  options: { keys: { type: 'string', default: '400' }, 'no-strict': { type: 'boolean', default: false } },
});
const keys = Math.max(40, Math.floor(Number(values.keys)) || 40);
const events = 5000;
/** Budget for the 99th percentile on a quiet machine, in milliseconds: one frame of a screen. */
const budgetMs = 16;
const cli = fileURLToPath(new URL('../../../apps/cli/dist/main.js', import.meta.url));
const echo = `const rl = require('node:readline').createInterface({ input: process.stdin, output: process.stdout, terminal: true });
rl.setPrompt('ready '); rl.prompt();`;

/** Letters that nothing else on the screen contains, so that each is its own echo. A line of them is deleted again. */
const letters = Array.from({ length: 40 }, (_, index) => String.fromCharCode(0x100 + index));

async function main(): Promise<void> {
  if (!existsSync(cli)) throw new Error('The CLI is not built. Run: npm run exec -- turbo run build');
  const home = mkdtempSync(join(tmpdir(), 'cobbler-bench-typing-'));
  const model = await startEndlessModel();
  const open: TerminalProgram[] = [];
  try {
    const env = { PATH: process.env['PATH'] ?? '', HOME: home, COBBLER_HOME: join(home, 'cobbler') };
    const place = { cwd: home, env };
    await importSession(home, env);
    const service = {
      ANTHROPIC_API_KEY: 'sk-ant-bench',
      ANTHROPIC_BASE_URL: model.url,
      COBBLER_SANDBOX: 'off',
    };
    const chat = inTerminal([process.execPath, cli, 'chat', '-c'], { ...place, env: { ...env, ...service } });
    const readline = inTerminal([process.execPath, '-e', echo], place);
    open.push(chat, readline);
    await readline.until('ready');
    await chat.until('describe a task');
    chat.type('go\r');
    await chat.until('writing');
    const times = { chat: [] as number[], readline: [] as number[] };
    while (times.chat.length < keys) {
      times.chat.push(...(await typed(chat)));
      times.readline.push(...(await typed(readline)));
    }
    report(times);
  } finally {
    for (const program of open) program.stop();
    model.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function importSession(home: string, env: Readonly<Record<string, string>>): Promise<void> {
  const file = join(home, 'session.jsonl');
  const { time, runId } = eventAt('bench', 1);
  const head = (seq: number) => ({ v: 1, seq, id: `bench-${seq}`, time, runId });
  const content = [{ type: 'text', text: 'Take notes.' }];
  const whole = [
    { ...head(1), type: 'user', content },
    ...Array.from({ length: events - 1 }, (_, index) => ({
      ...eventAt('bench', index + 1),
      ...head(index + 2),
    })),
  ];
  writeFileSync(file, whole.map((event) => `${JSON.stringify(event)}\n`).join(''));
  mkdirSync(join(home, 'cobbler'), { mode: 0o700 });
  const { code, stderr } = await runProgram([cli, 'sessions', 'import', file], { env, cwd: home });
  if (code !== 0) throw new Error(stderr);
}

/** Types a line of letters one by one, deletes it, and returns the time of each echo. */
async function typed(program: TerminalProgram): Promise<number[]> {
  const times: number[] = [];
  for (const [index, letter] of letters.entries()) {
    // Uneven, so that the keys do not keep step with the timers of the program.
    await pause(20 + ((index * 7) % 23));
    times.push(await program.echo(letter));
  }
  program.type('\x15');
  await pause(100);
  return times;
}

function report({
  chat,
  readline,
}: {
  readonly chat: readonly number[];
  readonly readline: readonly number[];
}): void {
  const row = (name: string, of: readonly number[]) =>
    `${name.padEnd(26)}${[0.5, 0.99, 1].map((share) => quantile(of, share).toFixed(2).padStart(9)).join('')}`;
  const ratio = (share: number) => (quantile(chat, share) / quantile(readline, share)).toFixed(2).padStart(9);
  const lines = [
    `${`key to echo, ${chat.length} keys, ms`.padEnd(26)}${['p50', 'p99', 'max'].map((name) => name.padStart(9)).join('')}`,
    row('chat while a model streams', chat),
    row('readline', readline),
    `${'ratio'.padEnd(26)}${[0.5, 0.99, 1].map(ratio).join('')}`,
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
  if (quantile(chat, 0.99) <= budgetMs) return;
  process.stdout.write(
    `The 99th percentile is above its budget of ${budgetMs} ms. Other load on the machine delays both rows.\n`,
  );
  if (!values['no-strict']) process.exitCode = 1;
}

await main();
