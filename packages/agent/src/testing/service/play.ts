import { defined } from '../../values/defined.ts';
import type { Chunking } from './chunking.ts';
import { joinFrames } from './chunking.ts';
import type { Frame, ScriptAnswer, ScriptFault, Step } from './provider-testing.ts';

/**
 * The end of a connection after the bytes of a body are written: a normal end, a lost connection, or one that stays
 * open and silent until the client disconnects.
 */
export type Ending = 'end' | 'reset' | 'stall';

/** A streamed response, complete or faulty. */
export interface ResponseReply {
  readonly type: 'answer';
  readonly answer: ScriptAnswer;
  /** The steps to send. Default: all, one block after another. */
  readonly steps?: readonly Step[];
  /** Failure inside the stream, sent after the steps. */
  readonly fault?: ScriptFault;
  /** Step whose first frame is sent last, and only its first half. */
  readonly torn?: Step;
  /** Adds noise before every payload and after the last. */
  readonly noise?: boolean;
  /** Changes the payloads before they are framed. */
  readonly edit?: (payloads: readonly unknown[]) => readonly unknown[];
  /** Changes each frame after it is framed. The payload of a torn frame is undefined. */
  readonly rewrite?: (frame: Frame, index: number, payload: unknown) => Frame;
  /** Division of the body into chunks. Default `payload`. */
  readonly chunks?: Chunking;
  /** End of the connection. Default `end`. */
  readonly ending?: Ending;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A failure of the service: an HTTP status with its body. */
export interface FaultReply {
  readonly type: 'fault';
  readonly fault: ScriptFault;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Any response, such as one from a proxy. */
export interface RawReply {
  readonly type: 'raw';
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Chunks of the body; a lazy iterable may be endless. */
  readonly body?: Frame | Iterable<Frame>;
  readonly ending?: Ending;
}

/** A response that a test writes while it is being read. */
export interface LiveReply {
  readonly type: 'live';
  readonly stream: LiveStream;
  /** HTTP status. Default 200. */
  readonly status?: number;
}

/** No response at all: neither head nor body. */
export interface SilentReply {
  readonly type: 'silent';
}

/** The connection is lost before there is a response. */
export interface DisconnectReply {
  readonly type: 'hang_up';
}

/** One response of a mock service. */
export type MockReply = ResponseReply | FaultReply | RawReply | LiveReply | SilentReply | DisconnectReply;

/** Creates a normal response. */
export function replies(
  answer: ScriptAnswer,
  rest: Partial<Omit<ResponseReply, 'type' | 'answer'>> = {},
): ResponseReply {
  return { type: 'answer', answer, ...rest };
}

/** Creates a failure with the service's own status and message. */
export function failsWith(fault: ScriptFault, headers?: Readonly<Record<string, string>>): FaultReply {
  return { type: 'fault', fault, ...defined({ headers }) };
}

/** Creates a plain-text response with this status, such as from a gateway that does not know the service. */
export function answersStatus(status: number, headers: Readonly<Record<string, string>> = {}): RawReply {
  return {
    type: 'raw',
    status,
    headers: { 'content-type': 'text/plain', ...headers },
    body: `The gateway responds with status ${status}.`,
  };
}

/** The body of a response whose chunks a test sends one by one. */
export class LiveStream {
  readonly body: ReadableStream<Uint8Array>;
  /** Resolves when the reader cancels the body. */
  readonly left: Promise<void>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor() {
    const left = Promise.withResolvers<void>();
    this.left = left.promise;
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      cancel: () => {
        this.#controller = undefined;
        left.resolve();
      },
    });
  }

  /** Sends text or bytes as one chunk. Does nothing after the reader has left. */
  send(data: Frame): void {
    if (data.length > 0) this.#controller?.enqueue(joinFrames([data]));
  }

  /** Ends the body normally. */
  end(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }
}
