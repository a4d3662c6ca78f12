import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { backoff } from '../../values/backoff.ts';
import { defined } from '../../values/defined.ts';
import { AgentError } from '../../values/errors.ts';
import type { Runtime } from '../../values/runtime.ts';
import { systemRuntime } from '../../values/runtime.ts';
import { OutputCapture } from './output-capture.ts';
import type { ProcessRecord } from './process-record.ts';
import { currentRecords } from './process-record.ts';
import type { ProcessEntry } from './process-table.ts';
import { markName, processTree, readProcessTable, startedWith } from './process-table.ts';

/** What supervising needs of the system, replaceable in tests. */
export interface ProcessSystem {
  spawn(command: string, args: readonly string[], options: SpawnOptions): ChildProcess;
  /** Like process.kill: a negative id means a process group. */
  kill(pid: number, signal: NodeJS.Signals): void;
  /** Every process that runs now. */
  table(): readonly ProcessEntry[];
  /** Whether a process was started with `name=value` in its environment. */
  startedWith(pid: number, variable: string): boolean;
}

/** What to start, and how long and how loud it may be. */
export interface ProcessOptions {
  /** The program and its arguments; no shell reads them. */
  readonly argv: readonly [string, ...string[]];
  /** A real path. */
  readonly cwd: string;
  /** The whole environment of the child; see childEnvironment. */
  readonly env: Readonly<Record<string, string>>;
  /** Written to standard input, which is then closed. Absent: standard input is empty. */
  readonly input?: string;
  /** Leaves standard input open after `input`, for `write` and `endInput`. Default false. */
  readonly keepInputOpen?: boolean;
  /** Ends the tree when it aborts. */
  readonly signal?: AbortSignal;
  /** Ends the tree after that many milliseconds. Default: no limit of its own. */
  readonly timeoutMs?: number;
  /** From SIGTERM to SIGKILL, in milliseconds. Default 1,500. */
  readonly graceMs?: number;
  /** How long output may still come after the program has ended, in milliseconds. Default 250. */
  readonly drainMs?: number;
  /** Most bytes kept of each stream, head and tail. Default 1 MiB. */
  readonly maxOutputBytes?: number;
  /** Gets all output as it comes. Must not throw. */
  readonly onOutput?: (chunk: Uint8Array, stream: 'stdout' | 'stderr') => void;
  readonly runtime?: Pick<Runtime, 'monotonic' | 'timer'>;
  readonly spawn?: ProcessSystem['spawn'];
  readonly system?: Omit<ProcessSystem, 'spawn'>;
}

/** How a supervised program ended. */
export interface ProcessEnd {
  /** `exit`: by itself. `unstartable`: it never ran, `error` tells why. */
  readonly cause: 'exit' | 'timeout' | 'aborted' | 'unstartable';
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly error?: AgentError;
  readonly stdout: OutputCapture;
  readonly stderr: OutputCapture;
  /** From start to end, in milliseconds. */
  readonly durationMs: number;
}

/** A running program and everything it starts. */
export interface SupervisedProcess {
  /** Absent when the program could not be started. */
  readonly pid: number | undefined;
  /** Never rejects. Resolves when the program has ended and nothing that it started is left. */
  readonly ended: Promise<ProcessEnd>;
  /** Ends the whole tree; `ended` then says `aborted`. */
  stop(): void;
  /** Writes to a standard input that was left open. Does nothing when the program no longer reads it. */
  write(text: string): void;
  /** Closes a standard input that was left open. */
  endInput(): void;
}

/** From the first look at a tree that was told to end to the next, in milliseconds; then twice as long each time. */
const firstLookMs = 10;
const maxLookMs = 100;

/** How long SIGKILL is repeated, in milliseconds; what is still there then hangs in the kernel. */
const killMs = 500;

/** What is known of a process where the system lists none. */
const unlisted: Omit<ProcessEntry, 'pid'> = { parent: 0, group: 0, session: 0, started: 0 };

const realSystem: ProcessSystem = {
  spawn: (command, args, options) => spawn(command, args, options),
  kill: (pid, signal) => void process.kill(pid, signal),
  table: readProcessTable,
  startedWith,
};

/**
 * Starts a program in a session and process group of its own and looks after everything it starts. However
 * it ends (by itself, by time, by `signal`), what is left of its tree is then ended too: SIGTERM, time to
 * tidy up, SIGKILL, to the group and to descendants that have left it. A descendant that has cleared its
 * environment, left group and session and lost its parent before the first look escapes. When this process
 * exits, trees that still run are killed.
 */
export function superviseProcess(options: ProcessOptions): SupervisedProcess {
  const tree = new ProcessTree(options);
  return {
    pid: tree.pid,
    ended: tree.ended,
    stop: () => tree.stop('aborted'),
    write: (text) => tree.write(text),
    endInput: () => tree.endInput(),
  };
}

class ProcessTree {
  readonly ended: Promise<ProcessEnd>;
  readonly #options: ProcessOptions;
  readonly #system: ProcessSystem;
  readonly #runtime: Pick<Runtime, 'monotonic' | 'timer'>;
  readonly #mark: string = randomUUID();
  readonly #known: Map<number, number> = new Map();
  readonly #stdout: OutputCapture;
  readonly #stderr: OutputCapture;
  readonly #began: number;
  #child: ChildProcess | undefined;
  #record: ProcessRecord | undefined;
  #cause: ProcessEnd['cause'] = 'exit';
  #requestStop: () => void = () => {};
  #stopRequested = false;

  constructor(options: ProcessOptions) {
    this.#options = options;
    this.#system = {
      ...realSystem,
      ...options.system,
      ...defined({ spawn: options.spawn }),
    };
    this.#runtime = options.runtime ?? systemRuntime;
    const most = options.maxOutputBytes ?? 1_048_576;
    this.#stdout = new OutputCapture(most);
    this.#stderr = new OutputCapture(most);
    this.#began = this.#runtime.monotonic();
    this.ended = options.signal?.aborted === true ? this.#unstarted() : this.#run();
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** The first cause counts; a program that has ended by itself has, though what it left may still be there. */
  stop(cause: 'aborted' | 'timeout'): void {
    if (this.#stopRequested) return;
    this.#stopRequested = true;
    if (this.#isRunning()) this.#cause = cause;
    this.#requestStop();
  }

  write(text: string): void {
    if (this.#child?.stdin?.writable === true) this.#child.stdin.write(text);
  }

  endInput(): void {
    this.#child?.stdin?.end();
  }

  /** Kills at once and without waiting, for the moment in which this process exits. */
  killNow(): void {
    this.#send('SIGKILL');
  }

  async #unstarted(): Promise<ProcessEnd> {
    this.#cause = 'aborted';
    return this.#end(null, null);
  }

  async #run(): Promise<ProcessEnd> {
    const { signal, timeoutMs } = this.#options;
    const started = this.#start();
    if (AgentError.is(started)) return this.#unstartable(started);
    const child = started;
    liveTrees.add(this);
    const stopped = new Promise<void>((resolve) => {
      this.#requestStop = resolve;
    });
    const onAbort = () => this.stop('aborted');
    signal?.addEventListener('abort', onAbort, { once: true });
    const cancelTimer =
      timeoutMs === undefined ? () => {} : this.#runtime.timer(timeoutMs, () => this.stop('timeout'));
    try {
      const over = watch(child);
      const failure = await Promise.race([over.failed, over.exited, stopped]);
      if (failure instanceof Error) return this.#unstartable(startProblem(failure, this.#options.argv[0]));
      const drainMs = this.#options.drainMs ?? 250;
      if (!this.#stopRequested) await this.#within(drainMs, Promise.race([over.closed, stopped]));
      await this.#endTree();
      await this.#within(drainMs, over.closed);
      return this.#end(child.exitCode, child.signalCode);
    } finally {
      cancelTimer();
      signal?.removeEventListener('abort', onAbort);
      liveTrees.delete(this);
      // A process that could not be killed may still hold the other ends.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
      child.unref();
      // What could not be ended stays on record for the next start.
      if (this.#record !== undefined && this.#look().length === 0) this.#record.forget();
    }
  }

  #start(): ChildProcess | AgentError {
    const { argv, cwd, env, input, keepInputOpen = false } = this.#options;
    const hasInput = input !== undefined || keepInputOpen;
    // Before the start: a Cobbler that is killed right after it must not leave an unknown child.
    this.#record = currentRecords()?.begin(this.#mark);
    try {
      const child = this.#system.spawn(argv[0], argv.slice(1), {
        cwd,
        env: { ...env, [markName]: this.#mark },
        detached: true,
        windowsHide: true,
        stdio: [hasInput ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      });
      this.#child = child;
      if (child.pid !== undefined) this.#record?.started(child.pid);
      this.#read(child, 'stdout', this.#stdout);
      this.#read(child, 'stderr', this.#stderr);
      // A program that ends without reading its input is no failure of ours.
      child.stdin?.on('error', () => {});
      if (input !== undefined) child.stdin?.write(input);
      if (!keepInputOpen) child.stdin?.end();
      return child;
    } catch (error) {
      this.#record?.forget();
      return startProblem(error, argv[0]);
    }
  }

  /** Reads whatever comes, kept or not: a child must never wait for room in its pipe. */
  #read(child: ChildProcess, name: 'stdout' | 'stderr', capture: OutputCapture): void {
    child[name]?.on('error', () => {});
    child[name]?.on('data', (chunk: Uint8Array) => {
      capture.push(chunk);
      this.#options.onOutput?.(chunk, name);
    });
  }

  async #endTree(): Promise<void> {
    if (this.#look().length === 0) return;
    this.#send('SIGTERM');
    if (await this.#isGoneWithin(this.#options.graceMs ?? 1500, () => {})) return;
    this.#send('SIGKILL');
    await this.#isGoneWithin(killMs, () => this.#send('SIGKILL'));
  }

  async #isGoneWithin(ms: number, meanwhile: () => void): Promise<boolean> {
    const deadline = this.#runtime.monotonic() + ms;
    for (let look = 0; this.#runtime.monotonic() < deadline; look += 1) {
      await this.#pause(backoff({ baseMs: firstLookMs, maxMs: maxLookMs }, look));
      if (this.#look().length === 0) return true;
      meanwhile();
    }
    return false;
  }

  /** The tree as it is now. Remembers its members, because one that loses its parent may move away later. */
  #look(): ProcessEntry[] {
    const root = this.pid;
    if (root === undefined) return [];
    const table = this.#system.table();
    if (table.length === 0) return this.#isRunning() ? [{ ...unlisted, pid: root }] : [];
    const variable = `${markName}=${this.#mark}`;
    const isMarked = (entry: ProcessEntry) => this.#system.startedWith(entry.pid, variable);
    const members = processTree(table, { root, known: this.#known, isMarked });
    for (const { pid, started } of members) this.#known.set(pid, started);
    return members;
  }

  #send(signal: NodeJS.Signals): void {
    const root = this.pid;
    if (root === undefined) return;
    const members = this.#look();
    // The group in one step reaches members that were forked since the look.
    if (members.some((entry) => entry.group === root)) this.#kill(-root, signal);
    for (const { pid, group } of members) {
      // No process gets SIGTERM twice; a member that leaves the group right now must not miss SIGKILL.
      if (group !== root || signal === 'SIGKILL') this.#kill(pid, signal);
    }
  }

  #kill(pid: number, signal: NodeJS.Signals): void {
    try {
      this.#system.kill(pid, signal);
    } catch {
      // It has ended since the look, or the number belongs to another process now.
    }
  }

  #isRunning(): boolean {
    return this.#child?.exitCode === null && this.#child.signalCode === null;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#runtime.timer(ms, resolve));
  }

  async #within(ms: number, event: Promise<void>): Promise<void> {
    let cancel = () => {};
    const timeUp = new Promise<void>((resolve) => {
      cancel = this.#runtime.timer(ms, resolve);
    });
    await Promise.race([event, timeUp]);
    cancel();
  }

  #unstartable(error: AgentError): ProcessEnd {
    this.#cause = 'unstartable';
    return { ...this.#end(null, null), error };
  }

  #end(code: number | null, signal: NodeJS.Signals | null): ProcessEnd {
    const durationMs = this.#runtime.monotonic() - this.#began;
    return { cause: this.#cause, code, signal, stdout: this.#stdout, stderr: this.#stderr, durationMs };
  }
}

interface ProcessWatch {
  /** Resolves with the error when the program could not be started. */
  readonly failed: Promise<Error>;
  readonly exited: Promise<void>;
  /** Resolves when the program has ended and all its output has come. */
  readonly closed: Promise<void>;
}

function watch(child: ChildProcess): ProcessWatch {
  return {
    failed: new Promise((resolve) => {
      child.on('error', (error) => {
        // A child that runs can report errors too (a signal that could not be sent); those end nothing.
        if (child.pid === undefined) resolve(error);
      });
    }),
    exited: new Promise((resolve) => void child.once('exit', () => resolve())),
    closed: new Promise((resolve) => void child.once('close', () => resolve())),
  };
}

/** Trees to kill should this process exit before them. */
class LiveTrees {
  readonly #trees: Set<ProcessTree> = new Set();
  readonly #onExit = (): void => {
    for (const tree of this.#trees) tree.killNow();
  };

  add(tree: ProcessTree): void {
    if (this.#trees.size === 0) process.on('exit', this.#onExit);
    this.#trees.add(tree);
  }

  delete(tree: ProcessTree): void {
    this.#trees.delete(tree);
    if (this.#trees.size === 0) process.off('exit', this.#onExit);
  }
}

const liveTrees: LiveTrees = new LiveTrees();

function startProblem(error: unknown, program: string): AgentError {
  const code = (error as NodeJS.ErrnoException | undefined)?.code;
  const reasons: Record<string, string> = {
    ENOENT: 'it was not found, or its working directory is gone',
    EACCES: 'permission denied',
    E2BIG: 'its arguments are too long',
    EAGAIN: 'there are too many processes',
    EMFILE: 'too many files are open',
  };
  const reason = reasons[code ?? ''] ?? code ?? 'the system refused';
  return new AgentError({
    kind: 'tool',
    code: code === 'ENOENT' ? 'no_program' : 'unstartable',
    message: `${program} could not be started: ${reason}.`,
  });
}
