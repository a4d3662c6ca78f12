import type { Runtime } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import {
  signal as abortSignal,
  amount,
  callable,
  count,
  read,
  record,
  text,
  withMethods,
} from '@cobbler/agent/input';
import { OutputCapture } from '@cobbler/agent/node';

/** A command that was started in the background. */
export interface BackgroundCommand {
  /** Unique within its owner, such as `bg1`. */
  readonly id: string;
  readonly command: string;
  /** `running`, or how it ended, such as `exit 0`. */
  readonly status: string;
  /** Time from its start until its end or now, in milliseconds. */
  readonly durationMs: number;
  /** Its output so far: at most the beginning and the end of it. */
  readonly output: string;
  /** True if the output can contain text that other people wrote. */
  readonly untrusted: boolean;
}

/** Limits of {@link BackgroundCommands}. */
export interface BackgroundOptions {
  /** Maximum number of running commands of an owner. Default 8. */
  readonly maxRunning?: number;
  /** Time after which a command is stopped, in milliseconds. Default 28,800,000 (8 hours). */
  readonly maxMs?: number;
  /** Maximum number of bytes of output that are kept for each command. Default 65,536. */
  readonly maxOutputBytes?: number;
  readonly runtime?: Pick<Runtime, 'monotonic' | 'timer'>;
}

/** When a wait for a command ends early. */
export interface WaitOptions {
  /** A text in the output. */
  readonly until?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** What a command needs to run, and where its output goes. */
export interface BackgroundStart {
  readonly command: string;
  readonly untrusted: boolean;
  /** Starts the command. Resolves to how it ended, in words; must not reject. */
  run(ports: {
    readonly signal: AbortSignal;
    readonly timeoutMs: number;
    onOutput(chunk: Uint8Array): void;
  }): Promise<string>;
}

interface Entry extends Omit<BackgroundCommand, 'durationMs' | 'output'> {
  status: string;
  readonly startedAt: number;
  endedAt: number | undefined;
  readonly captured: OutputCapture;
  readonly stopper: AbortController;
  readonly ended: Promise<void>;
}

/** Running commands of an owner by default. */
const mostRunning = 8;

/** Running commands of all owners together. */
const mostInAll = 64;

/** Owners whose commands are kept. Those with a running command are kept in any case. */
const maxOwners = 100;

/** Ended commands of an owner that are kept, so that their output can still be read. */
const maxEnded = 20;

const readOptions = record<BackgroundOptions>({
  maxRunning: count,
  maxMs: amount,
  maxOutputBytes: count,
  runtime: withMethods('monotonic', 'timer'),
});

const readWait = record<WaitOptions>({ until: text, signal: abortSignal });

const readStart = record<BackgroundStart>(
  { command: text, untrusted: (value) => value === true, run: callable },
  ['command', 'untrusted', 'run'],
);

/**
 * Commands that keep running after the call that started them. Each belongs to an owner, such as a session, and only
 * its owner can read or stop it. The program that creates this object must close it: nothing survives it.
 */
export class BackgroundCommands {
  readonly #owners = new Map<string, Entry[]>();
  readonly #started = new Map<string, number>();
  readonly #options: Required<BackgroundOptions>;
  readonly #watchers = new Set<() => void>();
  #isClosed = false;

  /** @throws AgentError `invalid` for an invalid option. */
  constructor(options: BackgroundOptions = {}) {
    const defaults = {
      maxRunning: mostRunning,
      maxMs: 28_800_000,
      maxOutputBytes: 65_536,
      runtime: systemRuntime,
    };
    this.#options = { ...defaults, ...read(options, readOptions) };
  }

  /** Starts a command. @throws AgentError `tool` if too many are running, or after `close`. */
  start(owner: string, start: BackgroundStart): BackgroundCommand {
    const { command, untrusted, run } = read(start, readStart, 'start');
    const { maxRunning, maxMs, maxOutputBytes, runtime } = this.#options;
    const entries = this.#entries(owner);
    if (this.#isClosed) throw refusal('The program is ending, so no command can be started.');
    if (entries.filter(isRunning).length >= maxRunning) throw tooMany(maxRunning, 'Stop one of them first.');
    if (this.#all.filter(isRunning).length >= mostInAll)
      throw tooMany(mostInAll, 'Wait until a command of another conversation ends.');
    const number = (this.#started.get(owner) ?? 0) + 1;
    this.#started.set(owner, number);
    const captured = new OutputCapture(maxOutputBytes);
    const stopper = new AbortController();
    const ended = run({
      signal: stopper.signal,
      timeoutMs: maxMs,
      onOutput: (chunk) => {
        captured.push(chunk);
        this.#changed();
      },
    }).then((status) => {
      entry.status = status;
      entry.endedAt = runtime.monotonic();
      this.#changed();
    });
    const entry: Entry = {
      ...{ id: `bg${number}`, command, untrusted, status: 'running' },
      ...{ captured, stopper, ended, startedAt: runtime.monotonic(), endedAt: undefined },
    };
    entries.push(entry);
    const over = entries.filter((one) => !isRunning(one)).slice(0, -maxEnded);
    this.#owners.set(
      owner,
      entries.filter((one) => !over.includes(one)),
    );
    for (const [name, theirs] of this.#owners)
      if (this.#owners.size > maxOwners && !theirs.some(isRunning)) this.#remove(name);
    this.#changed();
    return this.#seen(entry);
  }

  /** Returns the commands of an owner, oldest first. */
  list(owner: string): BackgroundCommand[] {
    return this.#entries(owner).map((entry) => this.#seen(entry));
  }

  /** Returns a command with its output so far. @throws AgentError `tool` for an unknown id. */
  get(owner: string, id: string): BackgroundCommand {
    return this.#seen(this.#entry(owner, id));
  }

  /**
   * Resolves when a command has ended, its output contains `until`, the time is over, or `signal` aborts.
   * @param ms the time in milliseconds.
   * @throws AgentError `tool` for an unknown id.
   */
  async wait(owner: string, id: string, ms: number, options: WaitOptions = {}): Promise<void> {
    const entry = this.#entry(owner, id);
    const { until, signal } = read(options, readWait, 'options');
    const isOver = () =>
      !isRunning(entry) ||
      signal?.aborted === true ||
      (until !== undefined && entry.captured.text().includes(until));
    if (isOver()) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        cancel();
        this.#watchers.delete(look);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const look = () => isOver() && done();
      const cancel = this.#options.runtime.timer(read(ms, amount, 'ms'), done);
      this.#watchers.add(look);
      signal?.addEventListener('abort', done, { once: true });
    });
  }

  /** Stops a command and waits for its end. @throws AgentError `tool` for an unknown id. */
  async stop(owner: string, id: string): Promise<void> {
    const entry = this.#entry(owner, id);
    entry.stopper.abort();
    await entry.ended;
  }

  /** Gives the commands of an owner to another one, such as a session that continues it. */
  move(from: string, to: string): void {
    const entries = this.#entries(from);
    if (entries.length === 0) return;
    this.#owners.set(to, [...this.#entries(to), ...entries]);
    this.#started.set(to, Math.max(this.#started.get(to) ?? 0, this.#started.get(from) ?? 0));
    this.#owners.delete(from);
  }

  /** Calls the listener when a command has started, printed or ended. Returns a function that removes the listener. */
  watch(listener: () => void): () => void {
    const own = read<() => void>(listener, callable, 'listener');
    this.#watchers.add(own);
    return () => void this.#watchers.delete(own);
  }

  /** Stops the commands of an owner that no longer exists, waits until they have ended, and discards them. */
  async forget(owner: string): Promise<void> {
    const entries = this.#entries(owner);
    this.#remove(owner);
    await endAll(entries);
  }

  /** Stops all commands and waits until they have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await endAll(this.#all);
  }

  get #all(): Entry[] {
    return [...this.#owners.values()].flat();
  }

  #remove(owner: string): void {
    this.#owners.delete(owner);
    this.#started.delete(owner);
  }

  #changed(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }

  #entries(owner: string): Entry[] {
    return this.#owners.get(read(owner, text, 'owner')) ?? [];
  }

  #entry(owner: string, id: string): Entry {
    const entries = this.#entries(owner);
    const wanted = read(id, text, 'id');
    const found = entries.find((entry) => entry.id === wanted);
    if (found !== undefined) return found;
    const ids = entries.map((entry) => entry.id).join(', ');
    throw refusal(
      `There is no background command ${JSON.stringify(id)}. ${ids === '' ? 'None was started, or the program that ran them has ended.' : `Known: ${ids}.`}`,
    );
  }

  #seen({ id, command, untrusted, status, captured, startedAt, endedAt }: Entry): BackgroundCommand {
    const durationMs = (endedAt ?? this.#options.runtime.monotonic()) - startedAt;
    return {
      ...{ id, command, untrusted, status, durationMs },
      // Only when it is read: a display that counts commands must not copy their output with every change.
      get output() {
        return captured.text();
      },
    };
  }
}

async function endAll(entries: readonly Entry[]): Promise<void> {
  for (const { stopper } of entries) stopper.abort();
  await Promise.all(entries.map(({ ended }) => ended));
}

function tooMany(max: number, advice: string): AgentError {
  return refusal(`${max} background commands are running, which is the maximum. ${advice}`);
}

function isRunning({ endedAt }: Entry): boolean {
  return endedAt === undefined;
}

function refusal(message: string): AgentError {
  return new AgentError({ kind: 'tool', code: 'background_command', message });
}
