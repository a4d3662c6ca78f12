import type { AgentEvent } from '../agent.ts';
import { AgentError } from '../errors.ts';
import type { Runtime } from '../runtime.ts';
import type { Usage } from '../usage.ts';
import { noUsage } from '../usage.ts';
import { abortError } from './abort.ts';
import type { Address } from './address.ts';
import type { Answer } from './assembly.ts';
import { Assembly } from './assembly.ts';
import { joinBytes } from './bytes.ts';
import { ErrorBodyReader } from './error-body.ts';
import { connectionError, faultError } from './fault.ts';
import type { OpenFraming } from './framing.ts';
import { accepts } from './framing.ts';
import type { Headers } from './headers.ts';
import { pickHeaders } from './headers.ts';
import { Garbled } from './payload.ts';
import { refusal } from './refusal.ts';
import type { Timeouts } from './timeouts.ts';
import { lateError } from './timeouts.ts';
import type { RawResponse, Transport } from './transport.ts';
import { Watch } from './watch.ts';
import type { Framer, Wire } from './wire.ts';

/** After its end an answer may still bring usage; nobody waits longer than this for it, in milliseconds. */
const afterEndMs = 1_000;

/** A service that reports an error and then hangs is not waited for longer, in milliseconds. */
const errorBodyMs = 5_000;

/** Everything one attempt needs. */
export interface Attempt {
  readonly wire: Wire;
  readonly framing: OpenFraming;
  readonly runtime: Runtime;
  readonly transport: Transport;
  readonly timeouts: Timeouts;
  readonly address: () => Address | Promise<Address>;
  /** Headers of the kit, of which the endpoint may know better. */
  readonly headers: Headers;
  /** Headers of the envelope, which win over all others. */
  readonly envelopeHeaders: Headers;
  readonly body: readonly Uint8Array[];
  readonly signal: AbortSignal | undefined;
  readonly emit: ((event: AgentEvent) => void) | undefined;
  /** When the whole call is over, on the monotonic clock. */
  readonly deadline: number;
  /** The model was asked to think, so that silence means nothing. */
  readonly mayThink: boolean;
}

/** How an attempt ended. */
export type Outcome =
  | {
      readonly type: 'answered';
      readonly answer: Answer;
      readonly requestId: string | undefined;
      readonly rateLimits: Headers | undefined;
    }
  | {
      readonly type: 'failed';
      readonly error: AgentError;
      /** Whether another attempt is worth while: a passed deadline may be retryable, but not by us. */
      readonly retry: boolean;
      /** Tokens that the service counted or must have used. */
      readonly wasted: Usage;
      /** Whether a request was made at all. */
      readonly sent: boolean;
    };

/** What has passed its deadline: the whole call, the head, a byte, progress, or the rest of a body. */
type Late = 'total' | 'head' | 'stall' | 'progress' | 'rest';

type Phase = 'head' | 'stream' | 'trailing' | 'refused' | 'over';

/**
 * One request and its answer.
 *
 * E1. Nothing but the wire's `end` is success; the end of the body alone never is.
 * E2. It settles once, at once when the signal aborts, and whatever the transport does afterwards is ignored.
 * E3. Nothing is told after it has settled.
 * E4. When it settles before the body has ended, the connection is destroyed.
 */
export function exchange(attempt: Attempt): Promise<Outcome> {
  return new Promise((resolve) => {
    new Exchange(attempt, resolve).start();
  });
}

class Exchange {
  readonly #attempt: Attempt;
  readonly #settle: (outcome: Outcome) => void;
  readonly #assembly: Assembly;
  readonly #watch: Watch<Late>;
  readonly #link = new AbortController();
  readonly #onAbort = () => this.#aborted();
  readonly #framer: Framer;
  #errorBody: ErrorBodyReader | undefined;
  readonly #startedAt: number;
  #phase: Phase = 'head';
  #sent = false;
  #bodyEnded = false;
  #address: Address | undefined;
  #response: RawResponse | undefined;
  /** When the last byte came and when the wire last said anything, on the monotonic clock. */
  #lastByte = 0;
  #lastProgress = 0;

  constructor(attempt: Attempt, settle: (outcome: Outcome) => void) {
    const { wire, runtime } = attempt;
    this.#attempt = attempt;
    this.#settle = settle;
    this.#assembly = new Assembly(wire.provider, attempt.emit);
    this.#framer = attempt.framing.open();
    this.#startedAt = runtime.monotonic();
    this.#watch = new Watch(
      runtime,
      () => this.#due(),
      (name) => this.#late(name),
    );
  }

  start(): void {
    const { signal } = this.#attempt;
    if (signal?.aborted) return this.#aborted();
    signal?.addEventListener('abort', this.#onAbort);
    this.#watch.look();
    this.#run().catch((error: unknown) => this.#fail(AgentError.from(error)));
  }

  async #run(): Promise<void> {
    try {
      const address = this.#attempt.address();
      this.#address = address instanceof Promise ? await address : address;
    } catch (error) {
      return this.#fail(AgentError.from(error, 'invalid'));
    }
    if (this.#isOver) return;
    let response: RawResponse;
    try {
      response = await this.#send(this.#address);
    } catch (error) {
      return this.#broken('Connecting to', error);
    }
    if (this.#isOver) return response.close();
    this.#response = response;
    await (this.#isAnswer(response) ? this.#readAnswer(response) : this.#readRefusal(response));
  }

  #send(address: Address): Promise<RawResponse> {
    const { wire, transport, headers, envelopeHeaders, body } = this.#attempt;
    const { signal } = this.#link;
    this.#sent = true;
    if (wire.send !== undefined) {
      return wire.send(joinBytes(body), { signal, headers: { ...headers, ...envelopeHeaders } });
    }
    return transport({
      url: address.url,
      headers: { ...headers, ...address.headers, ...envelopeHeaders },
      body,
      signal,
    });
  }

  #isAnswer(response: RawResponse): boolean {
    const { status } = response;
    return status >= 200 && status < 300 && accepts(this.#attempt.framing, response.header('content-type'));
  }

  async #readAnswer(response: RawResponse): Promise<void> {
    this.#enter('stream');
    try {
      await response.read((bytes) => this.#take(bytes));
    } catch (error) {
      if (this.#assembly.hasEnded) return this.#succeed();
      return this.#broken('The answer from', error);
    }
    this.#bodyEnded = true;
    if (this.#isOver) return;
    this.#feed(this.#lastPayloads());
    if (this.#isOver) return;
    if (this.#assembly.hasEnded) this.#succeed();
    else
      this.#fail(
        this.#networkError(
          'cut',
          'The answer was cut off: the connection closed before the answer was complete.',
        ),
      );
  }

  async #readRefusal(response: RawResponse): Promise<void> {
    this.#enter('refused');
    const reader = new ErrorBodyReader();
    this.#errorBody = reader;
    await reader.read(response);
    this.#bodyEnded = !reader.taken().isCut;
    this.#refuse();
  }

  #refuse(): void {
    const response = this.#response;
    const address = this.#address;
    const body = this.#errorBody?.taken();
    if (this.#isOver || response === undefined || address === undefined || body === undefined) return;
    const { wire, runtime, framing } = this.#attempt;
    this.#fail(refusal({ wire, runtime, framing, address, response, body }));
  }

  /** One chunk of the body. Must not throw: transports call it from their own events. */
  #take(bytes: Uint8Array): void {
    if (this.#isOver) return;
    this.#lastByte = this.#attempt.runtime.monotonic();
    let payloads: Iterable<unknown>;
    try {
      payloads = this.#framer.push(bytes);
    } catch (error) {
      return this.#garbled(AgentError.from(error).message);
    }
    this.#feed(payloads);
  }

  #feed(payloads: Iterable<unknown>): void {
    const assembly = this.#assembly;
    const before = assembly.steps;
    try {
      // An array is walked without an iterator, of which there would be one for each delta.
      const list = Array.isArray(payloads) ? payloads : [...payloads];
      for (let index = 0; index < list.length; index += 1) {
        const payload: unknown = list[index];
        if (payload instanceof Garbled) return this.#garbled('a message of the stream is not valid JSON');
        this.#attempt.wire.event(payload, assembly);
        if (assembly.fault !== undefined) return this.#reported();
        if (this.#isOver) return;
      }
    } catch (error) {
      return this.#garbled(AgentError.from(error).message);
    }
    if (assembly.steps !== before) this.#lastProgress = this.#lastByte;
    if (assembly.hasEnded && this.#phase === 'stream') this.#enter('trailing');
  }

  /** What the clean end of the body completes. Half a payload there is a cut and not garbage. */
  #lastPayloads(): unknown[] {
    try {
      return [...this.#framer.end()].filter((payload) => !(payload instanceof Garbled));
    } catch {
      return [];
    }
  }

  #reported(): void {
    const { fault } = this.#assembly;
    if (fault === undefined) return;
    this.#fail(faultError(this.#attempt.wire.provider, { ...fault, ...this.#requestId() }));
  }

  #garbled(why: string): void {
    // After the end nothing can spoil the answer any more.
    if (this.#assembly.hasEnded) return this.#succeed();
    this.#fail(this.#networkError('garbled', `The answer is garbled: ${why}.`));
  }

  #broken(doing: string, error: unknown): void {
    const host = this.#address?.host ?? 'the service';
    this.#fail(connectionError(this.#attempt.wire.provider, host, doing, error));
  }

  #networkError(code: string, message: string): AgentError {
    const { provider } = this.#attempt.wire;
    return new AgentError({
      kind: 'network',
      code,
      message,
      provider,
      retryable: true,
      ...this.#requestId(),
    });
  }

  #requestId(): { requestId?: string } {
    const { requestIdHeader } = this.#attempt.wire;
    const requestId = requestIdHeader === undefined ? undefined : this.#response?.header(requestIdHeader);
    return requestId === undefined ? {} : { requestId };
  }

  #due(): { at: number; name: Late } {
    const { timeouts, deadline } = this.#attempt;
    const total = { at: deadline, name: 'total' as const };
    switch (this.#phase) {
      case 'head':
        return nearer(total, { at: this.#startedAt + timeouts.headersMs, name: 'head' });
      case 'refused':
        return nearer(total, { at: this.#lastByte + errorBodyMs, name: 'rest' });
      case 'trailing':
        return nearer(total, { at: this.#lastProgress + afterEndMs, name: 'rest' });
      case 'stream': {
        const stall = nearer(total, { at: this.#lastByte + timeouts.stallMs, name: 'stall' });
        const thinks = this.#attempt.mayThink || this.#assembly.isReasoning;
        return thinks
          ? stall
          : nearer(stall, { at: this.#lastProgress + timeouts.progressMs, name: 'progress' });
      }
      case 'over':
        return { at: Number.POSITIVE_INFINITY, name: 'total' };
    }
  }

  #late(name: Late): void {
    if (this.#phase === 'trailing') return this.#succeed();
    if (name === 'rest') return this.#refuse();
    this.#fail(lateError(name, this.#attempt.timeouts, this.#attempt.wire.provider), false);
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    if (phase !== 'trailing') {
      this.#lastByte = this.#attempt.runtime.monotonic();
      this.#lastProgress = this.#lastByte;
    }
    this.#watch.look();
  }

  get #isOver(): boolean {
    return this.#phase === 'over';
  }

  get #sentBytes(): number {
    return this.#attempt.body.reduce((sum, { length }) => sum + length, 0);
  }

  #succeed(): void {
    if (this.#isOver) return;
    const response = this.#response;
    const rateLimits = response && pickHeaders(this.#attempt.wire.rateLimitHeaders, response);
    const { requestId } = this.#requestId();
    // What a service says of an answer is logged; a gateway may repeat the key in it.
    const scrubber = this.#address?.scrubber;
    this.#finish({
      type: 'answered',
      answer: this.#assembly.answer(),
      requestId: requestId && scrubber?.text(requestId),
      rateLimits: rateLimits && scrubber?.values(rateLimits),
    });
  }

  #aborted(): void {
    const { signal, wire } = this.#attempt;
    if (signal !== undefined) this.#fail(abortError(signal, wire.provider), false);
  }

  #fail(error: AgentError, retry: boolean = error.retryable): void {
    if (this.#isOver) return;
    const clean =
      this.#address === undefined || error === this.#attempt.signal?.reason
        ? error
        : this.#address.scrubber.error(error);
    const wasted = this.#response === undefined ? noUsage : this.#assembly.usedSoFar(this.#sentBytes);
    this.#finish({ type: 'failed', error: clean, retry, wasted, sent: this.#sent });
  }

  #finish(outcome: Outcome): void {
    if (this.#isOver) return;
    this.#phase = 'over';
    this.#assembly.mute();
    this.#watch.stop();
    this.#attempt.signal?.removeEventListener('abort', this.#onAbort);
    if (!this.#bodyEnded) {
      this.#response?.close();
      this.#link.abort();
    }
    this.#settle(outcome);
  }
}

function nearer(
  left: { at: number; name: Late },
  right: { at: number; name: Late },
): { at: number; name: Late } {
  return right.at < left.at ? right : left;
}
