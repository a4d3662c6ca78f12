import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { backoff } from '../../values/backoff.ts';
import { defined } from '../../values/defined.ts';
import { AgentError } from '../../values/errors.ts';
import { read } from '../../values/input.ts';
import type { Runtime } from '../../values/runtime.ts';
import { systemRuntime } from '../../values/runtime.ts';
import { OutputCapture } from './output-capture.ts';
import type { ProcessOptions, ProcessSystem } from './process-options.ts';
import { processOptions } from './process-options.ts';
import type { ProcessRecord } from './process-record.ts';
import { currentRecords } from './process-record.ts';
import type { ProcessEntry } from './process-table.ts';
import { markName, processTree, readProcessTable, startedWith } from './process-table.ts';
import type { SandboxedStart } from './sandbox.ts';

/** The end of a supervised program. */
export interface ProcessEnd {
  /** `exit`: the program ended on its own. `unstartable`: it never ran, and `error` contains the reason. */
  readonly cause: 'exit' | 'timeout' | 'aborted' | 'unstartable';
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly error?: AgentError;
  readonly stdout: OutputCapture;
  readonly stderr: OutputCapture;
  /** What the sandbox refused, and what it undid after the end, in words. */
  readonly undone: readonly string[];
  /** Time from start to end, in milliseconds. */
  readonly durationMs: number;
}

/** A running program and all processes it starts. */
export interface SupervisedProcess {
  /** Undefined if the program could not be started. */
  readonly pid: number | undefined;
  /** Never rejects. Resolves when the program and all processes it started have ended. */
  readonly ended: Promise<ProcessEnd>;
  /** Ends the whole tree; the cause in `ended` is then `aborted`. */
  stop(): void;
  /** Writes to standard input if it was kept open. Does nothing if the program no longer reads it. */
  write(text: string): void;
  /** Closes standard input if it was kept open. */
  endInput(): void;
}

/** Delay before the first check of whether a tree has ended, in milliseconds; it doubles with each check. */
const firstLookMs = 10;
const maxLookMs = 100;

/** Time for which SIGKILL is repeated, in milliseconds; a process that is still running then hangs in the kernel. */
const killMs = 500;

/** Placeholder fields for a process where the system has no process list. */
const unlisted: Omit<ProcessEntry, 'pid'> = { parent: 0, group: 0, session: 0, started: 0 };

const realSystem: ProcessSystem = {
  spawn: (command, args, options) => spawn(command, args, options),
  kill: (pid, signal) => void process.kill(pid, signal),
  table: readProcessTable,
  startedWith,
};

/**
 * Starts a program in its own session and process group and supervises every process it starts. When the program ends
 * (on its own, by timeout or by `signal`), the remaining processes of its tree are ended too: SIGTERM, then SIGKILL
 * after a grace period, to the group and to descendants that have left it. A descendant escapes if it has cleared its
 * environment, left the group and session and lost its parent before the first check. When this process exits, running
 * trees are killed.
 */
export function superviseProcess(options: ProcessOptions): SupervisedProcess {
  const tree = new ProcessTree(read(options, processOptions));
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
  #sandboxed: SandboxedStart | undefined;
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
    const maxBytes = options.maxOutputBytes ?? 1_048_576;
    this.#stdout = new OutputCapture(maxBytes);
    this.#stderr = new OutputCapture(maxBytes);
    this.#began = this.#runtime.monotonic();
    this.ended = options.signal?.aborted === true ? this.#endUnstarted() : this.#run();
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Only the first cause counts. A program that has ended keeps the cause `exit`, even if processes of it still run. */
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

  /** Kills the tree without waiting; called while this process exits. */
  killNow(): void {
    this.#send('SIGKILL');
  }

  async #endUnstarted(): Promise<ProcessEnd> {
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
      // A process that could not be killed may keep the other ends open.
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
      child.unref();
      // Processes that could not be ended stay on record for the next start.
      if (this.#record !== undefined && this.#look().length === 0) this.#record.forget();
    }
  }

  #start(): ChildProcess | AgentError {
    const { sandbox, input, keepInputOpen = false } = this.#options;
    const hasInput = input !== undefined || keepInputOpen;
    // Record it before the start: if Cobbler is killed right after the start, the child must be known.
    this.#record = currentRecords()?.begin(this.#mark);
    try {
      this.#sandboxed = sandbox?.enter(this.#options);
      const { argv, cwd, env } = this.#sandboxed ?? this.#options;
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
      // It is not an error if a program ends without reading its input.
      child.stdin?.on('error', () => {});
      if (input !== undefined) child.stdin?.write(input);
      if (!keepInputOpen) child.stdin?.end();
      return child;
    } catch (error) {
      this.#record?.forget();
      return AgentError.is(error) ? error : startProblem(error, this.#options.argv[0]);
    }
  }

  /** Reads all output, kept or not: a child must never block on a full pipe. */
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

  /** Returns the members of the tree and remembers them, because one that loses its parent can leave the group later. */
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
    // A sandbox that gets SIGTERM kills everything in it at once. Its own two processes end after those inside.
    const inside = members.filter(({ pid, parent }) => pid !== root && parent !== root);
    if (signal === 'SIGTERM' && this.#isSandboxed() && inside.length > 0) {
      for (const { pid } of inside) this.#kill(pid, signal);
      return;
    }
    // Signaling the group also reaches members that were forked after the process list was read.
    if (members.some((entry) => entry.group === root)) this.#kill(-root, signal);
    for (const { pid, group } of members) {
      // No process gets SIGTERM twice, but a member that is leaving the group must not miss SIGKILL.
      if (group !== root || signal === 'SIGKILL') this.#kill(pid, signal);
    }
  }

  #kill(pid: number, signal: NodeJS.Signals): void {
    try {
      this.#system.kill(pid, signal);
    } catch {
      // The process has ended in the meantime, or its id now belongs to another process.
    }
  }

  #isSandboxed(): boolean {
    return this.#sandboxed !== undefined && this.#sandboxed.argv !== this.#options.argv;
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
    const undone = this.#sandboxed?.leave?.() ?? [];
    return {
      cause: this.#cause,
      code,
      signal,
      stdout: this.#stdout,
      stderr: this.#stderr,
      undone,
      durationMs,
    };
  }
}

interface ProcessWatch {
  /** Resolves with the error if the program could not be started. */
  readonly failed: Promise<Error>;
  readonly exited: Promise<void>;
  /** Resolves when the program has ended and all its output has been received. */
  readonly closed: Promise<void>;
}

function watch(child: ChildProcess): ProcessWatch {
  return {
    failed: new Promise((resolve) => {
      child.on('error', (error) => {
        // A running child can also emit errors, such as for a signal that could not be sent; those are ignored.
        if (child.pid === undefined) resolve(error);
      });
    }),
    exited: new Promise((resolve) => void child.once('exit', () => resolve())),
    closed: new Promise((resolve) => void child.once('close', () => resolve())),
  };
}

/** The trees to kill if this process exits before they end. */
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
    ENOENT: 'it was not found, or its working directory does not exist',
    EACCES: 'permission denied',
    E2BIG: 'its arguments are too long',
    EAGAIN: 'there are too many processes',
    EMFILE: 'too many files are open',
  };
  const reason = reasons[code ?? ''] ?? code ?? 'the system refused to start it';
  const message = `${program} could not be started: ${reason}.`;
  return new AgentError({ kind: 'tool', code: code === 'ENOENT' ? 'no_program' : 'unstartable', message });
}
