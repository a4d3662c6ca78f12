import type { Clock, Environment, Io, Key, Keyboard, Output, RawKeyboard } from '../../src/terminal/io.ts';

/** An output that stores all writes, in one list with other outputs if they share `all`. */
export interface FakeOutput extends Output {
  readonly written: string[];
  text(): string;
  resize(columns: number): void;
}

export function fakeOutput(tty: boolean, columns: number, all: string[] = []): FakeOutput {
  const written: string[] = [];
  const listeners = new Set<() => void>();
  let width = columns;
  return {
    tty,
    written,
    columns: () => (tty ? width : undefined),
    write(text) {
      written.push(text);
      all.push(text);
    },
    async send(bytes) {
      this.write(Buffer.from(bytes).toString());
    },
    text: () => written.join(''),
    resize(value) {
      width = value;
      for (const listener of listeners) listener();
    },
    onResize(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

/** A clock that changes only when a test advances it. */
export interface FakeClock extends Clock {
  advance(ms: number): void;
}

export function fakeClock(): FakeClock {
  let now = 0;
  const timers = new Set<{ at: number; fire: () => void }>();
  return {
    now: () => now,
    after(ms, fire) {
      const timer = { at: now + ms, fire };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
    advance(ms) {
      const end = now + ms;
      for (;;) {
        const due = [...timers].filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
        if (due === undefined) break;
        timers.delete(due);
        now = due.at;
        due.fire();
      }
      now = end;
    },
  };
}

export interface FakeKeyboard extends Keyboard {
  press(...keys: readonly (string | Key)[]): void;
  readonly closed: boolean;
}

export function fakeKeyboard(): FakeKeyboard {
  let heard: (key: Key) => void = () => undefined;
  let closed = false;
  return {
    listen(listener) {
      heard = listener;
    },
    close() {
      closed = true;
    },
    get closed() {
      return closed;
    },
    press(...keys) {
      for (const key of keys) heard(typeof key === 'string' ? { type: 'text', text: key } : key);
    },
  };
}

export interface FakeRawKeyboard extends RawKeyboard {
  type(chunk: string): void;
  readonly closed: boolean;
}

export function fakeRawKeyboard(): FakeRawKeyboard {
  let heard: (chunk: string) => void = () => undefined;
  let closed = false;
  return {
    listen(listener) {
      heard = listener;
    },
    suspend: (onResume) => onResume(),
    close() {
      closed = true;
    },
    get closed() {
      return closed;
    },
    type: (chunk) => heard(chunk),
  };
}

export interface FakeIo extends Io {
  readonly stdout: FakeOutput;
  readonly stderr: FakeOutput;
  readonly clock: FakeClock;
  /** All writes to both outputs, in order. */
  readonly all: readonly string[];
  interrupt(): void;
}

export interface FakeIoOptions {
  readonly outTty?: boolean;
  readonly errTty?: boolean;
  readonly columns?: number;
  readonly env?: Environment;
  readonly input?: string;
  readonly keyboard?: Keyboard;
  readonly rawKeyboard?: RawKeyboard;
  readonly cwd?: string;
}

/** Creates the in-memory I/O of a command. Default: a UTF-8 terminal with 80 columns. */
export function fakeIo(options: FakeIoOptions = {}): FakeIo {
  const { outTty = true, errTty = true, columns = 80, env = { LANG: 'C.UTF-8' }, input } = options;
  const all: string[] = [];
  const interrupts = new Set<() => void>();
  return {
    args: [],
    env: { COBBLER_SANDBOX: 'off', ...env },
    cwd: () => options.cwd ?? '/',
    stdin: { tty: input === undefined, read: async () => new TextEncoder().encode(input ?? '') },
    stdout: fakeOutput(outTty, columns, all),
    stderr: fakeOutput(errTty, columns, all),
    clock: fakeClock(),
    all,
    openKeyboard: () => options.keyboard,
    openRawKeyboard: () => options.rawKeyboard,
    onInterrupt(listener) {
      interrupts.add(listener);
      return () => void interrupts.delete(listener);
    },
    onBrokenPipe: () => () => undefined,
    detach: () => new Promise(() => undefined),
    exit(code) {
      throw new Error(`exit ${code}`);
    },
    interrupt() {
      for (const listener of interrupts) listener();
    },
  };
}
