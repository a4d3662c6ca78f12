import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { shellQuoted } from '../src/permissions/permission-rule.ts';
import { bareEnvironment, command } from '../test/support/binary.ts';
import { temporaryFolder } from '../test/support/temporary-folder.ts';

export interface TerminalOptions {
  readonly columns: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A program in a tmux terminal, as a user sees it. */
export interface RealTerminal {
  readonly cwd: string;
  /** The text on the screen, without trailing spaces. */
  screen(): string;
  /** The text on the screen and in the scrollback, with colors if requested. */
  all(withColours?: boolean): string;
  /** The text on the screen with its colors. */
  picture(): string;
  /** All bytes that the program wrote. */
  bytes(): string;
  /** Presses keys by name: `Enter`, `C-c`, `M-Enter`. */
  press(...keys: readonly string[]): void;
  /** Types the text. */
  type(text: string): void;
  resize(columns: number, rows?: number): void;
  /** Kills the program, and none of the processes that it started, as a crash does. */
  crash(): void;
  /** The position of the cursor: cells from the left, rows from the top. */
  cursor(): { readonly x: number; readonly y: number };
  /** Waits until the screen or the scrollback contains a text or meets a condition. */
  until(words: string | RegExp | ((text: string) => boolean)): Promise<void>;
}

/** Timeout of each wait in milliseconds, long enough for a busy machine. */
const patienceMs = 30_000;

let terminals = 0;

/** @throws Error that says how to install tmux, because skipped tests would prove nothing. */
export function requireTmux(): void {
  const { status } = spawnSync('tmux', ['-V']);
  if (status !== 0) throw new Error('These tests need tmux: apt-get install tmux');
}

/** Runs the CLI in its own terminal, in a shell that prints the exit code and terminal settings. */
export async function atTerminal(args: readonly string[], options: TerminalOptions): Promise<RealTerminal> {
  requireTmux();
  terminals += 1;
  const socket = `cobbler-faces-${process.pid}-${terminals}`;
  const folder = temporaryFolder();
  const cwd = options.cwd ?? temporaryFolder();
  const raw = join(folder, 'bytes');
  const tmux = (...words: readonly string[]) => {
    const { stdout, stderr, status } = spawnSync(
      'tmux',
      ['-L', socket, '-f', join(folder, 'conf'), ...words],
      {
        encoding: 'utf8',
        env: { ...bareEnvironment(), TERM: 'xterm-256color' },
      },
    );
    if (status !== 0) throw new Error(`tmux ${words[0]}: ${stderr}`);
    return stdout;
  };
  writeFileSync(raw, '');
  writeFileSync(join(folder, 'conf'), 'set -g history-limit 30000\nset -s escape-time 0\n');
  const script = join(folder, 'run.sh');
  const line = [...command, ...args].map(shellQuoted).join(' ');
  // The CLI starts after tmux begins to record its output.
  writeFileSync(script, `cat "${folder}/begin" >/dev/null\n${line}\necho "exit $?"\nstty -a\nsleep 1000\n`);
  spawnSync('mkfifo', [join(folder, 'begin')]);
  const { columns, rows = 30 } = options;
  const env = bareEnvironment({ TERM: 'tmux-256color', ...options.env });
  const assigned = Object.entries(env).map(([name, value]) => shellQuoted(`${name}=${value}`));
  tmux(
    'new-session',
    '-d',
    '-s',
    't',
    '-x',
    String(columns),
    '-y',
    String(rows),
    '-c',
    cwd,
    `env -i ${assigned.join(' ')} sh ${script}`,
  );
  onTestFinished(() => void spawnSync('tmux', ['-L', socket, 'kill-server']));
  tmux('pipe-pane', '-t', 't', '-o', `cat >> ${raw}`);
  writeFileSync(join(folder, 'begin'), '');
  const shell = () => Number(tmux('display-message', '-p', '-t', 't', '#{pane_pid}'));
  const all = (withColours = false) =>
    tmux('capture-pane', '-p', '-t', 't', '-S', '-30000', ...(withColours ? ['-e'] : [])).trimEnd();
  return {
    cwd,
    screen: () => tmux('capture-pane', '-p', '-t', 't').trimEnd(),
    all,
    picture: () => tmux('capture-pane', '-p', '-e', '-t', 't').trimEnd(),
    bytes: () => readFileSync(raw, 'latin1'),
    press: (...keys) => void tmux('send-keys', '-t', 't', ...keys),
    type: (text) => void tmux('send-keys', '-t', 't', '-l', text),
    resize(width, height = rows) {
      // What a program wrote for the old width and the terminal reads after it has become narrower leaves rows behind,
      // whatever the program does. So the program pauses, and the terminal reads what is left.
      const paused = descendants(shell());
      for (const pid of paused) process.kill(pid, 'SIGSTOP');
      for (let before = '', now = all(); now !== before; now = all()) before = now;
      tmux('resize-window', '-t', 't', '-x', String(width), '-y', String(height));
      for (const pid of paused) process.kill(pid, 'SIGCONT');
    },
    crash() {
      for (const pid of childrenOf(shell())) process.kill(pid, 'SIGKILL');
    },
    cursor: () => {
      const [x, y] = tmux('display-message', '-p', '-t', 't', '#{cursor_x} #{cursor_y}')
        .trim()
        .split(' ')
        .map(Number);
      return { x: x ?? -1, y: y ?? -1 };
    },
    async until(words) {
      const end = performance.now() + patienceMs;
      for (;;) {
        const before = performance.now();
        const text = all();
        // Looking blocks this process, in which the scripted model has to speak too.
        const restMs = Math.max(50, 3 * (performance.now() - before));
        if (isThere(words, text)) return;
        if (performance.now() > end) throw new Error(`${String(words)} did not appear:\n${text}`);
        await pause(restMs);
      }
    },
  };
}

function isThere(words: string | RegExp | ((text: string) => boolean), text: string): boolean {
  if (typeof words === 'function') return words(text);
  return typeof words === 'string' ? text.includes(words) : words.test(text);
}

/** Returns the ids of the processes below a process. */
function descendants(parent: number): number[] {
  return childrenOf(parent).flatMap((pid) => [pid, ...descendants(pid)]);
}

function childrenOf(parent: number): number[] {
  const { stdout } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number));
  return rows.flatMap(([pid = 0, ppid]) => (ppid === parent ? [pid] : []));
}
