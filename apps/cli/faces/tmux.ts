import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { shellQuoted } from '../src/config/permission-rule.ts';
import { bareEnvironment, command } from '../test/support/binary.ts';
import { temporaryFolder } from '../test/support/temporary-folder.ts';

export interface TerminalOptions {
  readonly columns: number;
  readonly rows?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A program at a terminal that tmux draws, as a person would see it. */
export interface RealTerminal {
  readonly cwd: string;
  /** What is on the screen, without blanks at the ends of lines. */
  screen(): string;
  /** What is on the screen and what has left it upwards, with colours when asked. */
  all(withColours?: boolean): string;
  /** Everything that the program wrote, byte by byte. */
  bytes(): string;
  /** Presses keys by their names: `Enter`, `C-c`, `M-Enter`. */
  press(...keys: readonly string[]): void;
  /** Types a text. */
  type(text: string): void;
  resize(columns: number, rows?: number): void;
  /** Where the cursor is: cells from the left, rows from the top. */
  cursor(): { readonly x: number; readonly y: number };
  /** Waits until something is on the screen or above it. */
  until(words: string | RegExp | ((text: string) => boolean)): Promise<void>;
}

/** How long a busy machine may take for anything, in milliseconds. */
const patienceMs = 30_000;

let terminals = 0;

/** @throws Error that says how to get tmux: a terminal that was not looked at is no terminal that is right. */
export function requireTmux(): void {
  const { status } = spawnSync('tmux', ['-V']);
  if (status !== 0) throw new Error('These tests need tmux: apt-get install tmux');
}

/** Runs the command line in a terminal of its own, in a shell that tells its exit code and what became of the terminal. */
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
  // It begins once everything it writes is being recorded.
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
  const all = (withColours = false) =>
    tmux('capture-pane', '-p', '-t', 't', '-S', '-30000', ...(withColours ? ['-e'] : [])).trimEnd();
  return {
    cwd,
    screen: () => tmux('capture-pane', '-p', '-t', 't').trimEnd(),
    all,
    bytes: () => readFileSync(raw, 'latin1'),
    press: (...keys) => void tmux('send-keys', '-t', 't', ...keys),
    type: (text) => void tmux('send-keys', '-t', 't', '-l', text),
    resize: (width, height = rows) =>
      void tmux('resize-window', '-t', 't', '-x', String(width), '-y', String(height)),
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
        const text = all();
        if (isThere(words, text)) return;
        if (performance.now() > end) throw new Error(`${String(words)} never came:\n${text}`);
        await pause(50);
      }
    },
  };
}

function isThere(words: string | RegExp | ((text: string) => boolean), text: string): boolean {
  if (typeof words === 'function') return words(text);
  return typeof words === 'string' ? text.includes(words) : words.test(text);
}
