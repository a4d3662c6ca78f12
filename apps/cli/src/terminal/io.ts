import type { Environment } from '@cobbler/agent';

export type { Environment } from '@cobbler/agent';
/** An output stream. */
export interface Output {
  /** True if the output is a terminal. */
  readonly tty: boolean;
  /** Returns the width in cells, if the terminal reports it. */
  columns(): number | undefined;
  write(text: string): void;
  /** Writes bytes, and resolves when there is room for more. */
  send(bytes: Uint8Array): Promise<void>;
  /** Calls the listener when the terminal's size changes. Returns a function that removes the listener. */
  onResize(listener: () => void): () => void;
}

/** Standard input, which can contain a piped prompt or attachment. */
export interface Input {
  readonly tty: boolean;
  /** Reads everything up to the end. A closed standard input counts as empty. */
  read(): Promise<Uint8Array>;
}

/** A clock for durations and timers of the interface. */
export interface Clock {
  /** Returns milliseconds that never decrease. */
  now(): number;
  /** Calls `fire` once. Returns a function that cancels it. */
  after(ms: number, fire: () => void): () => void;
}

/** A key that an approval accepts. */
export type Key =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'enter' | 'backspace' | 'escape' | 'interrupt' | 'suspend' | 'other' };

/** A keyboard read key by key, without echo. */
export interface Keyboard {
  /** Sets the listener for keys; only the latest one receives them. */
  listen(listener: (key: Key) => void): void;
  /** Restores the terminal. */
  close(): void;
}

/** The raw input of the keyboard, for decoding keys. */
export interface RawKeyboard {
  /** Sets the listener for input; only the latest one receives it. */
  listen(listener: (chunk: string) => void): void;
  /** Suspends the process as Ctrl-Z does, with the terminal restored. Calls back when it continues. */
  suspend(onResume: () => void): void;
  /** Restores the terminal. */
  close(): void;
}

/** A start of this program in a process of its own, whose output is appended to `log`, a file for its owner only. */
export interface DetachedStart {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly log: string;
  /** True if it reads the standard input of this process, unless that is a terminal. */
  readonly readsInput: boolean;
}

/** A command's access to its environment, except for files and the network. */
export interface Io {
  readonly args: readonly string[];
  readonly env: Environment;
  /** Returns the directory in which the command was started. Throws UsageError if it no longer exists. */
  cwd(): string;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly clock: Clock;
  /** Returns the keyboard for questions; undefined without a terminal. */
  openKeyboard(): Keyboard | undefined;
  /** Returns the same keyboard without decoding keys; undefined without a terminal. */
  openRawKeyboard(): RawKeyboard | undefined;
  /** Calls the listener when a signal asks the process to end, which it otherwise does at once. Returns how to remove it. */
  onInterrupt(listener: () => void): () => void;
  /** Calls the listener when standard output is closed. Returns a function that removes the listener. */
  onBrokenPipe(listener: () => void): () => void;
  /** Starts this program again, detached from this process and its terminal. Resolves with its exit code, 1 without one. */
  detach(start: DetachedStart): Promise<number>;
  /** Ends the process immediately, even during a run. */
  exit(code: number): never;
}
