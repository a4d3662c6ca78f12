// One shell for all commands of a page. Each command runs in its own process group, as in a terminal, with the
// directory, variables and functions of the previous command.
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';

/** The directories and the environment of one page. */
export interface PagePlace {
  readonly home: string;
  /** A small project with a failing test. */
  readonly project: string;
  /** The directory in which the shell stores its state between two commands. */
  readonly notes: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The end of a command. */
export interface End {
  readonly code: number;
  readonly output: string;
}

/** A running command. */
export interface Running {
  readonly pid: number;
  /** Its output so far, without colors and cursor moves. */
  output(): string;
  /** Resolves when the text appears after the last match, the command ends, or the time is over. */
  seen(words: RegExp, limitMs?: number): Promise<boolean>;
  type(keys: string): void;
  /** Closes its input. */
  finishInput(): void;
  /** Presses Ctrl-C. */
  interrupt(): void;
  readonly ended: Promise<End>;
}

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly atTerminal?: boolean;
  readonly takesInput?: boolean;
}

/** Time after which a command counts as hanging, in milliseconds. */
const patienceMs = 300_000;

/** Time limit for an expected text, in milliseconds. */
const seenMs = 90_000;

/** Time limit for a command to end after Ctrl-C, in milliseconds. */
const goneMs = 15_000;

const markVariable = 'COBBLER_DOCS_PAGE';

const shells: Set<PageShell> = new Set();

/** Ends everything that any page has started. */
export function endAllShells(): void {
  for (const shell of shells) shell.endAll();
}

export class PageShell {
  readonly #place: PagePlace;
  readonly #mark: string;
  #scripts = 0;

  constructor(place: PagePlace, name: string) {
    this.#place = place;
    this.#mark = `${name}-${process.pid}-${Math.round(performance.now())}`;
    shells.add(this);
  }

  /** Returns the directory in which the next command will run. */
  get folder(): string {
    return readFileSync(join(this.#place.notes, 'cwd'), 'utf8').trim();
  }

  /** Runs a command until it ends. One that hangs is killed and gets the exit code 124. */
  async run(text: string, env: Readonly<Record<string, string>> = {}): Promise<End> {
    const running = this.start(text, { env });
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      signal(running.pid, 'SIGKILL');
    }, patienceMs);
    const end = await running.ended;
    clearTimeout(timer);
    return isLate ? { ...end, code: 124 } : end;
  }

  /** Starts a command. */
  start(text: string, { env, atTerminal = false, takesInput = false }: StartOptions = {}): Running {
    const script = this.#write(text);
    const [program, args] = atTerminal
      ? ['script', ['-qfec', `stty cols 100 rows 30; bash '${script}'`, '/dev/null']]
      : ['bash', [script]];
    const child = spawn(program, args, {
      cwd: this.#place.home,
      env: { ...this.#place.env, ...env, SHELL: '/bin/sh', [markVariable]: this.#mark },
      detached: true,
      stdio: [atTerminal || takesInput ? 'pipe' : 'ignore', 'pipe', 'pipe'],
    });
    return watched(child, atTerminal);
  }

  /** Presses Ctrl-C and waits. Resolves with the end; with undefined if the command is still running after its time. */
  async stop(running: Running): Promise<End | undefined> {
    running.interrupt();
    const end = await Promise.race([running.ended, pause(goneMs, undefined, { ref: false })]);
    if (end === undefined) signal(running.pid, 'SIGKILL');
    return end;
  }

  /** Returns the running processes that this page has started. Linux only. */
  left(): string[] {
    return processesWith(`${markVariable}=${this.#mark}`).map(({ pid, command }) => `${pid} ${command}`);
  }

  /** Ends all processes that are still running. */
  endAll(): void {
    for (const { pid } of processesWith(`${markVariable}=${this.#mark}`)) signal(pid, 'SIGKILL', false);
  }

  #write(text: string): string {
    const { notes } = this.#place;
    this.#scripts += 1;
    const path = join(notes, `command-${this.#scripts}.sh`);
    const keep = `code=$?; { export -p | grep -v ' ${markVariable}='; declare -f; } > '${notes}/state'; pwd > '${notes}/cwd'; exit $code`;
    const lines = [
      'set -a -o pipefail',
      `[ -f '${notes}/state' ] && . '${notes}/state'`,
      `cd "$(cat '${notes}/cwd')" || exit 1`,
      `trap ${JSON.stringify(keep).replaceAll('$', '\\$')} EXIT`,
      text,
    ];
    writeFileSync(path, `${lines.join('\n')}\n`);
    return path;
  }
}

function watched(child: ChildProcess, atTerminal: boolean): Running {
  const pid = child.pid ?? -1;
  let raw = '';
  let isOver = false;
  let seenUpTo = 0;
  const watchers = new Set<() => void>();
  const told = () => {
    for (const watcher of watchers) watcher();
  };
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      raw += text;
      told();
    });
  child.stdin?.on('error', () => undefined);
  const output = () => stripVTControlCharacters(raw);
  const ended = new Promise<End>((resolve) => {
    child.once('error', (error) => resolve({ code: 127, output: error.message }));
    child.once('close', (code, signalName) => {
      isOver = true;
      resolve({ code: code ?? (signalName === 'SIGINT' ? 130 : 137), output: output() });
      told();
    });
  });
  return {
    pid,
    output,
    ended,
    seen: (words, limitMs = seenMs) =>
      new Promise((resolve) => {
        const done = () => {
          const found = words.exec(output().slice(seenUpTo));
          const isThere = found !== null;
          if (!isThere && !isOver && performance.now() < deadline) return;
          watchers.delete(done);
          clearTimeout(timer);
          if (isThere) seenUpTo += found.index + found[0].length;
          resolve(isThere);
        };
        const deadline = performance.now() + limitMs;
        const timer = setTimeout(done, limitMs + 1);
        watchers.add(done);
        done();
      }),
    type: (keys) => void child.stdin?.write(keys),
    finishInput: () => void child.stdin?.end(),
    interrupt: () => {
      if (atTerminal) child.stdin?.write('\x03');
      else signal(pid, 'SIGINT');
    },
  };
}

/** Sends a signal to a process or its whole group. */
function signal(pid: number, name: NodeJS.Signals, isGroup = true): void {
  try {
    process.kill(isGroup ? -pid : pid, name);
  } catch {
    // It has ended in the meantime.
  }
}

function processesWith(assignment: string): { pid: number; command: string }[] {
  if (!existsSync('/proc/self/environ')) return [];
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      if (!readFileSync(`/proc/${name}/environ`, 'utf8').split('\0').includes(assignment)) return [];
      const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      // A zombie process has no command line.
      readlinkSync(`/proc/${name}/exe`);
      return [{ pid: Number(name), command: words.join(' ').slice(0, 100) }];
    } catch {
      return [];
    }
  });
}
