import { spawn } from 'node:child_process';
import { machineTime } from '../model-server.ts';

/** A program in a terminal of its own. */
export interface TerminalProgram {
  /** Resolves when the output since the last call contains a text. Rejects after a minute. */
  until(text: string): Promise<void>;
  /** Types a text. Returns the time until the terminal shows it, in milliseconds. */
  echo(text: string): Promise<number>;
  type(text: string): void;
  stop(): void;
}

const patienceMs = 60_000;

/** Starts a program in a terminal of 100 columns, with `script` of util-linux. */
export function inTerminal(
  argv: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): TerminalProgram {
  const line = argv.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');
  const child = spawn('script', ['-qefc', `stty cols 100 rows 30; exec ${line}`, '/dev/null'], {
    cwd: options.cwd,
    env: { ...options.env, SHELL: '/bin/sh', TERM: 'xterm-256color', LANG: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let seen = '';
  let waiting: { readonly text: string; readonly resolve: () => void } | undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen += text;
    if (waiting === undefined || !seen.includes(waiting.text)) return;
    waiting.resolve();
    waiting = undefined;
  });
  const until = (text: string) =>
    new Promise<void>((done, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`no ${JSON.stringify(text)} in ${JSON.stringify(seen.slice(-2000))}`)),
        patienceMs,
      );
      const resolve = () => {
        clearTimeout(timer);
        seen = '';
        done();
      };
      if (seen.includes(text)) resolve();
      else waiting = { text, resolve };
    });
  return {
    until,
    type: (text) => void child.stdin.write(text),
    async echo(text) {
      seen = '';
      const from = machineTime();
      child.stdin.write(text);
      await until(text);
      return machineTime() - from;
    },
    stop: () => void child.kill(),
  };
}
