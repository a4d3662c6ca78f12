/** One HTTP POST. */
export interface TransportRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Written one after another; never changed or kept by the transport after the promise settles. */
  readonly body: readonly Uint8Array[];
  /** Aborting destroys the connection at once. It may be made only when it is looked at. */
  readonly signal: AbortSignal;
  /**
   * The same for transports that need no AbortSignal, which takes more room than the rest of a waiting request:
   * calls the listener, in place of the one before it, when the connection has to be destroyed.
   */
  readonly whenGivenUp?: (listener: ((reason: unknown) => void) | undefined) => void;
}

/** The head of an HTTP answer, its body still to be read. */
export interface RawResponse {
  readonly status: number;
  /** Value of a response header by lower-case name. */
  header(name: string): string | undefined;
  /** All header names, lower case. */
  readonly headerNames: readonly string[];
  /**
   * Delivers every chunk of the body synchronously as it comes. Resolves at the clean end, rejects when the
   * connection breaks. Call it once.
   */
  read(onChunk: (bytes: Uint8Array) => void): Promise<void>;
  /** Gives up on the rest of the body; its connection is closed. */
  close(): void;
}

/** Sends one request and resolves with the head of the answer. Follows no redirect, retries nothing. */
export type Transport = (request: TransportRequest) => Promise<RawResponse>;
