/** One HTTP POST request. */
export interface TransportRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Byte ranges, written in order. The transport never changes them, and does not keep them after the promise settles. */
  readonly body: readonly Uint8Array[];
  /** Aborting destroys the connection immediately. It may be created only when the property is read. */
  readonly signal: AbortSignal;
  /**
   * For transports that do not need an AbortSignal, which takes more memory than the rest of a waiting request: sets
   * the listener that is called when the connection must be destroyed, and replaces the previous one.
   */
  readonly whenGivenUp?: (listener: ((reason: unknown) => void) | undefined) => void;
}

/** The head of an HTTP response whose body has not been read. */
export interface RawResponse {
  readonly status: number;
  /** Returns a response header by its lower-case name. */
  header(name: string): string | undefined;
  /** All header names, in lower case. */
  readonly headerNames: readonly string[];
  /**
   * Passes each chunk of the body to `onChunk` as it arrives. Resolves at the normal end, rejects if the connection is
   * lost. Call it once.
   */
  read(onChunk: (bytes: Uint8Array) => void): Promise<void>;
  /** Discards the rest of the body and closes the connection. */
  close(): void;
}

/** Sends one request and resolves with the head of the response. Does not follow redirects or retry. */
export type Transport = (request: TransportRequest) => Promise<RawResponse>;
