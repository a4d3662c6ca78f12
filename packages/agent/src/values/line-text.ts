import { AgentError } from './errors.ts';

/** Maximum number of bytes received before a frame is complete: 16 MiB. */
export const maxFrameBytes: number = 16 * 1024 * 1024;

// Replaced characters would be lost silently, so invalid UTF-8 is an error.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true });
const noBytes = new Uint8Array(0);
const lineFeed = 10;
const carriageReturn = 13;

/**
 * Converts chunks of UTF-8 to text of complete lines. A line break never falls inside a character, so the lines
 * completed by each chunk are decoded separately, which costs half as much as a streaming decoder; bytes after the last
 * break are kept.
 *
 * Invariant: returned text ends with a line feed; CR and CRLF are converted to line feeds.
 */
export class LineText {
  #waiting: Uint8Array<ArrayBuffer> = noBytes;
  /** Number of bytes after the last line break. */
  length = 0;
  #hasStarted = false;
  #endedInReturn = false;

  /**
   * Returns the lines that these bytes complete, `''` if none.
   * @throws AgentError `network` if a line exceeds {@link maxFrameBytes}.
   * @throws TypeError if the bytes are not UTF-8.
   */
  push(bytes: Uint8Array): string {
    // Most services write complete frames.
    if (this.length === 0 && bytes[bytes.length - 1] === lineFeed) return this.#clean(decoder.decode(bytes));
    const cut = lastBreak(bytes);
    if (cut === 0) {
      this.#keep(bytes);
      return '';
    }
    const whole = cut === bytes.length ? bytes : bytes.subarray(0, cut);
    let text: string;
    if (this.length === 0) {
      text = decoder.decode(whole);
    } else {
      this.#keep(whole);
      text = this.#takeWaiting();
    }
    if (cut < bytes.length) this.#keep(bytes.subarray(cut));
    return this.#clean(text);
  }

  /** Returns the last line if the body ends without a line break, `''` if there is none. */
  rest(): string {
    return this.length === 0 ? '' : this.#clean(`${this.#takeWaiting()}\n`);
  }

  #keep(bytes: Uint8Array): void {
    const length = this.length + bytes.length;
    if (length > maxFrameBytes) throw frameTooLarge();
    if (length > this.#waiting.length) {
      const larger = new Uint8Array(Math.max(length, this.#waiting.length * 2, 256));
      larger.set(this.#waiting.subarray(0, this.length));
      this.#waiting = larger;
    }
    this.#waiting.set(bytes, this.length);
    this.length = length;
  }

  #takeWaiting(): string {
    const text = decoder.decode(this.#waiting.subarray(0, this.length));
    this.length = 0;
    return text;
  }

  #clean(decoded: string): string {
    let text = decoded;
    if (!this.#hasStarted) {
      this.#hasStarted = true;
      if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
    }
    // A CRLF split between chunks: its CR has already ended the line.
    if (this.#endedInReturn && text.charCodeAt(0) === lineFeed) text = text.slice(1);
    this.#endedInReturn = text.charCodeAt(text.length - 1) === carriageReturn;
    return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
  }
}

/** Creates the error for a frame that exceeds {@link maxFrameBytes}. */
export function frameTooLarge(): AgentError {
  return new AgentError({
    kind: 'network',
    code: 'frame_too_large',
    message: `The service sent more than ${maxFrameBytes} bytes without completing a message in its stream.`,
  });
}

/** Returns the offset after the last line break; 0 if there is none. */
function lastBreak(bytes: Uint8Array): number {
  const afterFeed = bytes.lastIndexOf(lineFeed) + 1;
  // Bare CRs are rare: only the rest, usually empty, is searched for one.
  if (afterFeed === bytes.length || bytes.indexOf(carriageReturn, afterFeed) < 0) return afterFeed;
  return bytes.lastIndexOf(carriageReturn) + 1;
}
