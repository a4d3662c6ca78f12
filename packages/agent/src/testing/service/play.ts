import { defined } from '../../values/defined.ts';
import type { Chunking } from './chunking.ts';
import type { ScriptAnswer, ScriptFault, Step } from './provider-testing.ts';

/**
 * What becomes of a body once its bytes are written: a clean end, a connection that breaks, or one that stays
 * open and silent until the client gives up.
 */
export type Ending = 'end' | 'reset' | 'stall';

/** A streamed answer, whole or spoiled. */
export interface ResponseReply {
  readonly type: 'answer';
  readonly answer: ScriptAnswer;
  /** What is told of it. Default: everything, one block after another. */
  readonly steps?: readonly Step[];
  /** Told after the steps: a failure inside the stream. */
  readonly fault?: ScriptFault;
  /** Told last: the first half of this step's first frame. */
  readonly torn?: Step;
  /** Puts noise in front of every payload and behind the last. */
  readonly noise?: boolean;
  /** Changes the payloads before they are framed. */
  readonly edit?: (payloads: readonly unknown[]) => readonly unknown[];
  /** Changes each frame after it is framed; the last place to spoil something. */
  readonly rewrite?: (frame: string, index: number) => string;
  /** Default `payload`. */
  readonly chunks?: Chunking;
  /** Default `end`. */
  readonly ending?: Ending;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A failure as the service tells it: an HTTP status with its body. */
export interface FaultReply {
  readonly type: 'fault';
  readonly fault: ScriptFault;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Any answer at all, such as one that a proxy gives. */
export interface RawReply {
  readonly type: 'raw';
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Chunks of the body; what is iterated lazily may be endless. */
  readonly body?: string | Iterable<string | Uint8Array>;
  readonly ending?: Ending;
}

/** A response that a test writes while it is being read. */
export interface LiveReply {
  readonly type: 'live';
  readonly stream: LiveStream;
  /** Default 200. */
  readonly status?: number;
}

/** No answer ever: neither head nor body. */
export interface SilentReply {
  readonly type: 'silent';
}

/** The connection breaks before there is an answer. */
export interface DisconnectReply {
  readonly type: 'hang_up';
}

/** One answer of a service, as a script has it. */
export type MockReply = ResponseReply | FaultReply | RawReply | LiveReply | SilentReply | DisconnectReply;

/** A good answer. */
export function replies(
  answer: ScriptAnswer,
  rest: Partial<Omit<ResponseReply, 'type' | 'answer'>> = {},
): ResponseReply {
  return { type: 'answer', answer, ...rest };
}

/** A failure with the service's own status and words. */
export function failsWith(fault: ScriptFault, headers?: Readonly<Record<string, string>>): FaultReply {
  return { type: 'fault', fault, ...defined({ headers }) };
}

/** A plain-text answer with this status, such as a gateway gives that knows nothing of the service. */
export function answersStatus(status: number, headers: Readonly<Record<string, string>> = {}): RawReply {
  return {
    type: 'raw',
    status,
    headers: { 'content-type': 'text/plain', ...headers },
    body: `The gateway answers ${status}.`,
  };
}

/** The body of an answer whose chunks a test sends one by one. */
export class LiveStream {
  readonly body: ReadableStream<Uint8Array>;
  /** Resolves when the reader gives up. */
  readonly left: Promise<void>;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  readonly #encoder = new TextEncoder();

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

  /** Sends text as one chunk. Does nothing once the reader has left. */
  send(text: string): void {
    if (text !== '') this.#controller?.enqueue(this.#encoder.encode(text));
  }

  /** Ends the body cleanly. */
  end(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }
}
