import type { Environment } from '@cobbler/agent';

export type { Environment } from '@cobbler/agent';
/** A place to write to. */
export interface Output {
  /** True if the output is a terminal. */
  readonly tty: boolean;
  /** Width in cells, when the terminal tells it. */
  columns(): number | undefined;
  write(text: string): void;
  /** Calls back when the terminal's size changes. Returns a function that stops it. */
  onResize(listener: () => void): () => void;
}

/** Where a prompt or an attachment may be piped in. */
export interface Input {
  readonly tty: boolean;
  /** Everything up to the end. A standard input that is closed counts as empty. */
  read(): Promise<Uint8Array>;
}

/** Time for people: how long something takes, and when to look again. */
export interface Clock {
  /** Milliseconds that never go back. */
  now(): number;
  /** Calls `fire` once. Returns a function that takes it back. */
  after(ms: number, fire: () => void): () => void;
}

/** A key as an approval understands it. */
export type Key =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'enter' | 'backspace' | 'escape' | 'interrupt' | 'suspend' | 'other' };

/** A keyboard read key by key, without echo. */
export interface Keyboard {
  /** Only the latest listener receives keys. */
  listen(listener: (key: Key) => void): void;
  /** Restores the terminal. */
  close(): void;
}

/** The raw input of the keyboard, for decoding keys. */
export interface RawKeyboard {
  /** Only the latest listener receives input. */
  listen(listener: (chunk: string) => void): void;
  /** Suspends the process as Ctrl-Z does, with the terminal restored. Calls back when it continues. */
  suspend(onResume: () => void): void;
  /** Restores the terminal. */
  close(): void;
}

/** Everything a command has of the world besides files and the network. */
export interface Io {
  readonly args: readonly string[];
  readonly env: Environment;
  /** The folder the command was started in. Throws UsageError when it is gone. */
  cwd(): string;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly clock: Clock;
  /** The keyboard for questions; undefined without a terminal. */
  openKeyboard(): Keyboard | undefined;
  /** The same keyboard, unread; nothing without a terminal. */
  openRawKeyboard(): RawKeyboard | undefined;
  /**
   * Calls back when the process is asked to end. Returns a function that removes the listener; without a listener the
   * process ends at once.
   */
  onInterrupt(listener: () => void): () => void;
  /** Calls back when standard output is closed. Returns a function that removes the listener. */
  onBrokenPipe(listener: () => void): () => void;
  /** Ends the process now, also during a run. */
  exit(code: number): never;
}
