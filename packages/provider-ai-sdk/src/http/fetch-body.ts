/** Maximum bytes of one line of the stream, and of data waiting for the SDK. */
const maxLineBytes = 16 * 1024 * 1024;
const maxWaiting = 128 * 1024 * 1024;

/** Number of bytes at the end of a body that are searched for its end marker. */
const tailLength = 24;

const newline = 10;
const blankLine = new Uint8Array([newline, newline]);
const endMark = /[\r\n]data: ?\[DONE\]\s*$/;
const ascii = new TextDecoder('latin1');

/**
 * The bytes of an answer on their way into the SDK. It is always ended and never broken off: a stream that fails
 * throws away what is queued in it, and what came before a break has to be read.
 */
export class FetchBody {
  readonly stream: ReadableStream<Uint8Array>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #line = 0;
  #tail = '';

  constructor() {
    this.stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        cancel: () => {
          this.#controller = undefined;
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: maxWaiting }),
    );
  }

  /**
   * Accepts a chunk; after the end marker of a stream nothing more is read. False if it accepts no more, because a
   * line is too long or the reader has stopped.
   */
  push(bytes: Uint8Array): boolean {
    const last = bytes.lastIndexOf(newline);
    this.#line = last === -1 ? this.#line + bytes.length : bytes.length - last - 1;
    if (this.#line > maxLineBytes || (this.#controller?.desiredSize ?? 1) < 0) return false;
    this.#controller?.enqueue(bytes);
    this.#tail = (this.#tail + ascii.decode(bytes.subarray(-tailLength))).slice(-tailLength);
    if (endMark.test(this.#tail)) this.end('clean');
    return true;
  }

  /** Ends it. A last event that lacks its end is completed only when the service itself has ended there. */
  end(how: 'clean' | 'broken' = 'broken'): void {
    if (how === 'clean') this.#controller?.enqueue(blankLine);
    this.#controller?.close();
    this.#controller = undefined;
  }
}
