import { isatty } from 'node:tty';
import type { Input, Io, Output } from './io.ts';
import { openTerminalInput, openTerminalKeyboard } from './keyboard.ts';
import { UsageError } from './usage-error.ts';

/** Returns the real process as {@link Io}. Call it only once: it listens for signals and broken pipes. */
export function processIo(): Io {
  const interrupts = new Set<() => void>();
  const brokenPipes = new Set<() => void>();
  listenForSignals(interrupts);
  process.stdout.on('error', () => {
    if (brokenPipes.size === 0) process.exit(0);
    for (const listener of brokenPipes) listener();
  });
  // Standard error is closed, but the run and its result still count.
  process.stderr.on('error', () => undefined);
  return {
    args: process.argv.slice(2),
    env: process.env,
    cwd,
    stdin,
    stdout: outputOf(process.stdout),
    stderr: outputOf(process.stderr),
    clock: {
      now: () => performance.now(),
      after(ms, fire) {
        const handle = setTimeout(fire, ms);
        return () => clearTimeout(handle);
      },
    },
    openKeyboard: () => (process.stderr.isTTY ? openTerminalKeyboard(process.stdin) : undefined),
    openRawKeyboard: () => (process.stdout.isTTY ? openTerminalInput(process.stdin) : undefined),
    onInterrupt: (listener) => listenTo(interrupts, listener),
    onBrokenPipe: (listener) => listenTo(brokenPipes, listener),
    // Few commands start processes.
    detach: async (start) => await (await import('./detach.ts')).detach(start),
    exit: (code) => process.exit(code),
  };
}

function listenTo(listeners: Set<() => void>, listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

function listenForSignals(listeners: ReadonlySet<() => void>): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (listeners.size === 0) process.exit(130);
      for (const listener of listeners) listener();
    });
  }
}

function cwd(): string {
  try {
    return process.cwd();
  } catch {
    throw new UsageError('The current directory no longer exists.', 'Change to another one: cd ~');
  }
}

/**
 * Asks the terminal for its size. Node does so only when it handles the signal, which can be long after the terminal has
 * wrapped its lines at the new width; erasing by the old width would leave rows behind.
 */
function readSize(stream: NodeJS.WriteStream & { readonly _refreshSize?: () => void }): void {
  stream._refreshSize?.();
}

function outputOf(stream: NodeJS.WriteStream): Output {
  return {
    tty: stream.isTTY === true,
    columns() {
      readSize(stream);
      return stream.columns || undefined;
    },
    write: (text) => void stream.write(text),
    send: (bytes) => new Promise((resolve) => void stream.write(bytes, () => resolve())),
    onResize(listener) {
      // Reading the width can emit the event in the middle of a redraw.
      const afterwards = () => queueMicrotask(listener);
      stream.on('resize', afterwards);
      return () => void stream.off('resize', afterwards);
    },
  };
}

/** `process.stdin` is accessed only when something is read: creating it takes time and keeps the terminal open. */
const stdin: Input = {
  tty: isatty(0),
  async read() {
    const chunks: Uint8Array[] = [];
    try {
      for await (const chunk of process.stdin) chunks.push(chunk);
    } catch (error) {
      // A descriptor that was never opened, or is a directory, contains nothing to read.
      if (!isUnreadable(error)) throw error;
    }
    return Buffer.concat(chunks);
  },
};

function isUnreadable(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && ['EBADF', 'EISDIR', 'EAGAIN'].includes(String(error.code))
  );
}
