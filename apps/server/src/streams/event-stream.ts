import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { TokenInfo } from '../auth/token-store.ts';
import { endOf } from '../auth/token-store.ts';
import { heartbeat } from '../sessions/frame.ts';

/** Shared options of all streams of a server. */
export interface StreamBounds {
  readonly bufferBytes: number;
  readonly stallMs: number;
  /** Called when a client was disconnected for reading too slowly. */
  readonly onDrop: () => void;
}

/** The first bytes of a stream. */
export interface StreamStart {
  /** The token that opened it. */
  readonly token: TokenInfo | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** The first frames. */
  readonly text: string;
  /** Returns the last frames of a stream that the server ends. */
  readonly last?: () => string;
  /** False if the user of the token may no longer read it. */
  readonly mayRead: () => boolean;
}

const head = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
  'x-content-type-options': 'nosniff',
  // The end of the connection is the end of the stream: frames are written without further encoding, the same bytes
  // to every client.
  connection: 'close',
};

/**
 * One client of an event stream. Frames are written to its socket unchanged. A client that reads too slowly is
 * disconnected and delays no other. There may be thousands of idle clients, so each uses as little memory as
 * possible.
 */
export class EventStream {
  readonly tokenId: string;
  /** Expiry time of its token or cookie, in milliseconds since 1970. */
  readonly #until: number;
  readonly #socket: Socket;
  readonly #bounds: StreamBounds;
  readonly #last: (() => string) | undefined;
  readonly #mayRead: () => boolean;
  #isClosed = false;

  /** @param onClose called once when the client has left or was disconnected. */
  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    { token, headers, text, last, mayRead }: StreamStart,
    bounds: StreamBounds,
    onClose: (stream: EventStream) => void,
  ) {
    this.tokenId = token?.id ?? '';
    this.#until = token === undefined ? Infinity : endOf(token);
    this.#socket = request.socket;
    this.#bounds = bounds;
    this.#last = last;
    this.#mayRead = mayRead;
    response.useChunkedEncodingByDefault = false;
    response.writeHead(200, { ...headers, ...head });
    // Headers and first frames in one write. The headers are sent explicitly, because otherwise Node keeps them in
    // thirty parts.
    this.#socket.cork();
    response.flushHeaders();
    this.#socket.write(text);
    this.#socket.uncork();
    this.#socket.setTimeout(0);
    this.#socket.setNoDelay(true);
    this.#socket.on('close', () => onClose(this));
    forget(request);
    // Discard what the client still sends on this connection; reading it shows when the client leaves.
    request.resume();
  }

  get closed(): boolean {
    return this.#isClosed || this.#socket.destroyed;
  }

  /** Writes a frame that other clients may share. */
  write(frame: Uint8Array | string): void {
    const socket = this.#socket;
    if (this.#isClosed || socket.destroyed) return;
    socket.write(frame);
    if (socket.writableLength > this.#bounds.bufferBytes) this.#drop();
  }

  /** Sends a heartbeat, unless other bytes are waiting anyway. */
  beat(): void {
    if (this.#socket.writableLength === 0) this.write(heartbeat);
  }

  /** Resolves when the client can accept more data. A client that reads nothing for too long is disconnected. */
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

  /**
   * Ends the stream if its token or cookie is no longer valid, or its user may not read it. A client that does not read
   * on is disconnected next time.
   */
  check(tokenIds: ReadonlySet<string>, now: number): void {
    if (tokenIds.has(this.tokenId) && this.#until > now && this.#mayRead()) return;
    if (this.#isClosed) this.#socket.destroy();
    else this.end();
  }

  /** Ends the stream once the buffered data has been written. */
  end(): void {
    if (this.closed) return;
    const last = this.#last?.() ?? '';
    if (last !== '') this.write(last);
    this.#isClosed = true;
    this.#socket.end();
  }

  #drop(): void {
    this.#isClosed = true;
    this.#bounds.onDrop();
    this.#socket.destroy();
  }
}

/** Releases the data of a request, which would otherwise be kept as long as the stream. */
function forget(request: IncomingMessage): void {
  request.headers = {};
  request.rawHeaders = [];
}
