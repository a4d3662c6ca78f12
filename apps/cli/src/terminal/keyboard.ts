import { openSync } from 'node:fs';
import { ReadStream } from 'node:tty';
import type { Key, Keyboard, RawKeyboard } from './io.ts';

/** Time in milliseconds after a question appears during which keys are ignored: they were meant for something else. */
export const reactionMs = 500;

/** Decodes a chunk of raw terminal input. An escape sequence is one key, regardless of its length. */
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
 * listener is set are dropped, so that no earlier key decides a question. Ctrl-Z suspends the process as usual; until
 * it continues, the terminal is restored.
 */
export function openTerminalKeyboard(stdin: NodeJS.ReadStream): Keyboard | undefined {
  const input = openTerminalInput(stdin);
  if (input === undefined) return undefined;
  let onKey: (key: Key) => void = () => undefined;
  input.listen((chunk) => {
    for (const key of keysOf(chunk)) {
      if (key.type === 'suspend') input.suspend(() => undefined);
      else onKey(key);
    }
  });
  return {
    listen(listener) {
      onKey = listener;
    },
    close: () => input.close(),
  };
}

/** A process that is still running after this time was not suspended, in milliseconds. */
const notStoppedMs = 100;

/** Sets a terminal to raw mode and reads it. Raw mode is set again whenever the process continues after a suspension. */
export function openTerminalInput(stdin: NodeJS.ReadStream): RawKeyboard | undefined {
  const terminal = stdin.isTTY ? stdin : openTerminal();
  if (terminal === undefined) return undefined;
  let onChunk: (chunk: string) => void = () => undefined;
  let onResume: () => void = () => undefined;
  let isOpen = true;
  const setRaw = (raw: boolean) => {
    if (!terminal.destroyed) terminal.setRawMode(raw);
  };
  const onData = (chunk: string) => onChunk(chunk);
  // A closed terminal window also sends a signal, which ends the run.
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
  // A terminal that was read and closed before is paused, and another listener does not end that.
  terminal.resume();
  terminal.on('error', onError);
  setRaw(true);
  process.once('exit', restore);
  process.on('SIGCONT', resume);
  return {
    listen(listener) {
      onChunk = listener;
    },
    suspend(listener) {
      onResume = listener;
      suspend(setRaw);
      // Without a shell to continue it, the system does not suspend the process.
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

/** Suspends the whole process group, pipes included, as a terminal does when it is not in raw mode. */
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
