import { openSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import type { Key, Keyboard, RawKeyboard } from './io.ts';

/** Reads what one chunk of raw terminal input means. An escape sequence is one key, whatever its length. */
export function keysOf(chunk: string): Key[] {
  if (chunk === '\x1b') return [{ type: 'escape' }];
  if (chunk.startsWith('\x1b')) return [{ type: 'other' }];
  return Array.from(chunk, keyOf);
}

const named: Readonly<Record<string, Exclude<Key['type'], 'text'>>> = {
  '\r': 'enter',
  '\n': 'enter',
  '\x7f': 'backspace',
  '\b': 'backspace',
  '\x03': 'interrupt',
  '\x1a': 'suspend',
};

function keyOf(character: string): Key {
  const type = named[character];
  if (type !== undefined) return { type };
  return character < ' ' ? { type: 'other' } : { type: 'text', text: character };
}

/**
 * Reads a terminal key by key: standard input, or the terminal device if input is piped. Keys pressed while no
 * listener is set are dropped, so that no key from before a question answers it. Ctrl-Z suspends the process as usual;
 * until it continues, the terminal is restored.
 */
export function openTerminalKeyboard(stdin: NodeJS.ReadStream): Keyboard | undefined {
  const input = openTerminalInput(stdin);
  if (input === undefined) return undefined;
  let heard: (key: Key) => void = () => undefined;
  input.listen((chunk) => {
    for (const key of keysOf(chunk)) {
      if (key.type === 'suspend') input.suspend(() => undefined);
      else heard(key);
    }
  });
  return {
    listen(listener) {
      heard = listener;
    },
    close: () => input.close(),
  };
}

/** A process that still runs after this time was not suspended, in milliseconds. */
const notStoppedMs = 100;

/** Makes a terminal raw and reads it. It becomes raw again whenever the process continues after a suspension. */
export function openTerminalInput(stdin: NodeJS.ReadStream): RawKeyboard | undefined {
  const terminal = stdin.isTTY ? stdin : openTerminal();
  if (terminal === undefined) return undefined;
  let heard: (chunk: string) => void = () => undefined;
  let onResume: () => void = () => undefined;
  let isOpen = true;
  const setRaw = (raw: boolean) => {
    if (!terminal.destroyed) terminal.setRawMode(raw);
  };
  const onData = (chunk: string) => heard(chunk);
  // A terminal that goes away, as when its window is closed, also sends a signal, which ends the run.
  const onError = () => undefined;
  const restore = () => setRaw(false);
  const resume = () => {
    if (!isOpen) return;
    setRaw(true);
    const tell = onResume;
    onResume = () => undefined;
    tell();
  };
  terminal.setEncoding('utf8');
  terminal.on('data', onData);
  terminal.on('error', onError);
  setRaw(true);
  process.once('exit', restore);
  process.on('SIGCONT', resume);
  return {
    listen(listener) {
      heard = listener;
    },
    suspend(listener) {
      onResume = listener;
      suspend(setRaw);
      // Without a shell to continue it, the system does not suspend a process at all.
      setTimeout(resume, notStoppedMs).unref();
    },
    close() {
      isOpen = false;
      process.off('exit', restore);
      process.off('SIGCONT', resume);
      terminal.off('data', onData);
      restore();
      terminal.pause();
      if (terminal !== stdin) terminal.destroy();
    },
  };
}

/** Does what the terminal does unless it is raw: it suspends the whole group, pipes included. */
function suspend(setRaw: (raw: boolean) => void): void {
  setRaw(false);
  process.kill(0, 'SIGTSTP');
}

function openTerminal(): ReadStream | undefined {
  try {
    return new ReadStream(openSync('/dev/tty', 'r'));
  } catch {
    return undefined;
  }
}
