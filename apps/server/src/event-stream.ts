import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { heartbeat } from './frame.ts';

/** What all streams of a server share. */
export interface StreamBounds {
  readonly bufferBytes: number;
  readonly stallMs: number;
}

const head = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
  // The end of the connection is the end of the stream: frames go out as they are, the same bytes to everyone.
  connection: 'close',
};

/**
 * One reader of events. Frames are written to its socket as they are; a reader that does not take them is
 * dropped once too much waits for it, and holds up nobody.
 */
export class EventStream {
  readonly tokenId: string;
  readonly #socket: Socket;
  readonly #bounds: StreamBounds;
  #onDrop: () => void = () => {};
  #isClosed = false;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    { tokenId, bounds, headers }: { tokenId: string; bounds: StreamBounds; headers: Record<string, string> },
  ) {
    this.tokenId = tokenId;
    this.#socket = request.socket;
    this.#bounds = bounds;
    response.useChunkedEncodingByDefault = false;
    response.writeHead(200, { ...headers, ...head });
    response.flushHeaders();
    this.#socket.setTimeout(0);
    this.#socket.setNoDelay(true);
    // What a reader still says on this connection is of no interest; reading it shows when it leaves.
    request.resume();
  }

  get closed(): boolean {
    return this.#isClosed || this.#socket.destroyed;
  }

  /** Calls back once when the reader has left or was dropped. */
  onClose(listener: () => void): void {
    this.#socket.once('close', () => {
      this.#isClosed = true;
      listener();
    });
    if (this.#socket.destroyed) listener();
  }

  /** Calls back when the reader was dropped for being too slow. */
  onDrop(listener: () => void): void {
    this.#onDrop = listener;
  }

  /** Writes a frame, whoever else gets the same bytes. */
  write(frame: Uint8Array): void {
    const socket = this.#socket;
    if (socket.destroyed) return;
    socket.write(frame);
    if (socket.writableLength > this.#bounds.bufferBytes) this.#drop();
  }

  /** A sign of life, unless other bytes are waiting anyway. */
  beat(): void {
    if (this.#socket.writableLength === 0) this.write(heartbeat);
  }

  /** Resolves when there is room for more. A reader that takes nothing for too long is dropped. */
  async room(): Promise<void> {
    const socket = this.#socket;
    if (!socket.writableNeedDrain || socket.destroyed) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        socket.off('drain', done);
        socket.off('close', done);
        resolve();
      };
      const timer = setTimeout(() => this.#drop(), this.#bounds.stallMs);
      socket.on('drain', done);
      socket.on('close', done);
    });
  }

  /** Ends the stream once what waits has been written. */
  end(): void {
    this.#isClosed = true;
    this.#socket.end();
  }

  #drop(): void {
    this.#isClosed = true;
    this.#onDrop();
    this.#socket.destroy();
  }
}
