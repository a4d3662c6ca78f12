import { createInterface } from 'node:readline';

/** Lines typed by a user or piped in. */
export interface LineSource {
  /** Shows the prompt together with the text typed so far. */
  prompt(): void;
  /** Prints above the line that is being typed. */
  print(text: string): void;
  /** Clears the line; returns true if it had text. */
  clearLine(): boolean;
  close(): void;
}

export interface LineListener {
  onLine(line: string): void;
  /** Called on Ctrl-C at a terminal. */
  onInterrupt(): void;
  /** Called at the end of the input. */
  onEnd(): void;
}

/** Reads the process's standard input, with line editing at a terminal. */
export function processLines(listener: LineListener, sign: string): LineSource {
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  const lines = createInterface({
    input: process.stdin,
    terminal: isTerminal,
    historySize: 200,
    prompt: sign,
    ...(isTerminal && { output: process.stdout }),
  });
  let isShown = false;
  let isOpen = true;
  lines.on('line', (line) => {
    isShown = false;
    listener.onLine(line);
  });
  lines.on('SIGINT', () => listener.onInterrupt());
  lines.on('close', () => {
    isOpen = false;
    listener.onEnd();
  });
  const prompt = () => {
    if (!isTerminal || !isOpen) return;
    isShown = true;
    lines.prompt(true);
  };
  return {
    prompt,
    print(text) {
      if (isShown) process.stdout.write('\r\x1b[J');
      process.stdout.write(text);
      if (isShown) prompt();
    },
    clearLine() {
      const hadText = lines.line !== '';
      if (hadText) lines.write(null, { ctrl: true, name: 'e' });
      if (hadText) lines.write(null, { ctrl: true, name: 'u' });
      return hadText;
    },
    close: () => lines.close(),
  };
}
