import { AgentError } from '../values/errors.ts';
import { LazyAbortSignal } from '../values/lazy-abort-signal.ts';
import { isNoUsage, noUsage } from '../values/usage.ts';
import type { Attempt, AttemptOutcome } from './attempt.ts';
import { abortError } from './http/abort.ts';
import type { ResolvedEndpoint } from './http/address.ts';
import { joinBytes } from './http/bytes.ts';
import type { Due } from './http/deadline.ts';
import { DeadlineTimer } from './http/deadline.ts';
import { ErrorBodyReader } from './http/error-body.ts';
import { pickHeaders } from './http/headers.ts';
import { lateError } from './http/timeouts.ts';
import { Assembly } from './response/assembler.ts';
import { refusal } from './response/error-response.ts';
import { connectionError, faultError } from './response/fault.ts';
import { accepts } from './wire/framing.ts';
import { holdsData, MalformedPayload } from './wire/payload.ts';
import type { RawResponse } from './wire/transport.ts';
import type { Framer } from './wire/wire.ts';

/** Maximum time to wait for usage after the end of a response, in milliseconds. */
const afterEndMs = 1_000;

/** Maximum time to wait for the rest of an error body, in milliseconds. */
const errorBodyMs = 5_000;

/** Codes of connection failures that usually recur, because the URL or proxy may be wrong. */
const likelyWrong: ReadonlySet<string> = new Set(['ENOTFOUND', 'ERR_PROXY_TUNNEL']);

/** The deadline that has passed: the whole call, the response head, the next byte, progress, or the rest of a body. */
type Late = 'total' | 'head' | 'stall' | 'progress' | 'rest';

type ExchangePhase = 'head' | 'stream' | 'trailing' | 'refused' | 'over';

/** A response that is being received. */
interface ResponseReading {
  readonly framer: Framer;
  readonly assembly: Assembly;
}

/**
 * Sends one request and reads the response. The response reader is created only when the response starts: most of the
 * time a request only waits, and many may wait at the same time.
 *
 * E1. Only the wire's `end` is success; the end of the body is not.
 * E2. It settles once, immediately when the signal aborts, and ignores whatever the transport does afterwards.
 * E3. It emits no events after it has settled.
 * E4. If it settles before the body has ended, the connection is destroyed.
 */
export function exchange(attempt: Attempt): Promise<AttemptOutcome> {
  return new Promise((resolve) => {
    new HttpExchange(attempt, resolve).start();
  });
}

class HttpExchange {
  readonly #attempt: Attempt;
  readonly #settle: (outcome: AttemptOutcome) => void;
  readonly #watch: DeadlineTimer<Late>;
  readonly #link = new LazyAbortSignal();
  readonly #onAbort = () => this.#aborted();
  #reading: ResponseReading | undefined;
  #errorBody: ErrorBodyReader | undefined;
  readonly #startedAt: number;
  #phase: ExchangePhase = 'head';
  #sent = false;
  #bodyEnded = false;
  #address: ResolvedEndpoint | undefined;
  #response: RawResponse | undefined;
  /** Times of the last byte and of the last progress reported by the wire, on the monotonic clock. */
  #lastByte = 0;
  #lastProgress = 0;

  constructor(attempt: Attempt, settle: (outcome: AttemptOutcome) => void) {
    const { runtime, timeouts } = attempt.service;
    this.#attempt = attempt;
    this.#settle = settle;
    this.#startedAt = runtime.monotonic();
    const { headersMs, stallMs, progressMs } = timeouts;
    this.#watch = new DeadlineTimer(
      runtime,
      Math.min(headersMs, stallMs, progressMs),
      () => this.#due(),
      (name) => this.#late(name),
    );
  }

  start(): void {
    const { signal } = this.#attempt;
    if (signal?.aborted) return this.#aborted();
    signal?.addEventListener('abort', this.#onAbort);
    this.#watch.look();
    const unknown = (error: unknown) => this.#fail(AgentError.from(error, 'invalid'));
    try {
      const address = this.#attempt.service.address();
      if (address instanceof Promise) address.then((found) => this.#connect(found), unknown);
      else this.#connect(address);
    } catch (error) {
      unknown(error);
    }
  }

  #connect(address: ResolvedEndpoint): void {
    if (this.#isOver) return;
    this.#address = address;
    let sending: Promise<RawResponse>;
    try {
      sending = this.#send(address);
    } catch (error) {
      return this.#broken('Connecting to', error);
    }
    sending
      .then(
        (response) => this.#onResponse(response),
        (error) => this.#broken('Connecting to', error),
      )
      .catch((error: unknown) => this.#fail(AgentError.from(error)));
  }

  #onResponse(response: RawResponse): Promise<void> | undefined {
    if (this.#isOver) {
      response.close();
      return undefined;
    }
    this.#response = response;
    return this.#isAnswer(response) ? this.#readAnswer(response) : this.#readRefusal(response);
  }

  #send(address: ResolvedEndpoint): Promise<RawResponse> {
    const { service, envelopeHeaders, body } = this.#attempt;
    const { wire, transport, headers } = service;
    const link = this.#link;
    this.#sent = true;
    if (wire.send !== undefined) {
      const { signal } = link;
      return wire.send(joinBytes(body), { signal, headers: { ...headers, ...envelopeHeaders } });
    }
    return transport({
      url: address.url,
      headers: { ...headers, ...address.headers, ...envelopeHeaders },
      body,
      get signal() {
        return link.signal;
      },
      whenGivenUp: (listener) => link.listen(listener),
    });
  }

  #isAnswer(response: RawResponse): boolean {
    const { status } = response;
    const { framing } = this.#attempt.service;
    return status >= 200 && status < 300 && accepts(framing, response.header('content-type'));
  }

  async #readAnswer(response: RawResponse): Promise<void> {
    const { service, emit } = this.#attempt;
    const assembly = new Assembly(service.wire, emit);
    const reading = { framer: service.framing.open(), assembly };
    this.#reading = reading;
    this.#enter('stream');
    try {
      await response.read((bytes) => this.#take(bytes));
    } catch (error) {
      if (assembly.hasEnded) return this.#succeed();
      return this.#broken('Reading the response from', error);
    }
    this.#bodyEnded = true;
    if (this.#isOver) return;
    this.#feed(lastPayloads(reading.framer), reading);
    if (this.#isOver) return;
    if (assembly.hasEnded) this.#succeed();
    else
      this.#fail(
        this.#networkError('cut', 'The response was cut off: the connection closed before it was complete.'),
      );
  }

  async #readRefusal(response: RawResponse): Promise<void> {
    this.#enter('refused');
    const reader = new ErrorBodyReader();
    this.#errorBody = reader;
    await reader.read(response);
    this.#bodyEnded = !reader.result().isCut;
    this.#refuse();
  }

  #refuse(): void {
    const response = this.#response;
    const address = this.#address;
    const body = this.#errorBody?.result();
    if (this.#isOver || response === undefined || address === undefined || body === undefined) return;
    const { wire, runtime, framing } = this.#attempt.service;
    this.#fail(refusal({ wire, runtime, framing, address, response, body }));
  }

  /** Processes one chunk of the body. Must not throw, because transports call it from their own events. */
  #take(bytes: Uint8Array): void {
    const reading = this.#reading;
    if (reading === undefined) return;
    this.#lastByte = this.#attempt.service.runtime.monotonic();
    let payloads: Iterable<unknown>;
    try {
      payloads = reading.framer.push(bytes);
    } catch (error) {
      return this.#failMalformed(AgentError.from(error).message);
    }
    this.#feed(payloads, reading);
  }

  #feed(payloads: Iterable<unknown>, { assembly }: ResponseReading): void {
    const before = assembly.steps;
    const { wire } = this.#attempt.service;
    try {
      // Iterates over an array by index: an iterator would be allocated for each delta.
      const list = Array.isArray(payloads) ? payloads : [...payloads];
      for (let index = 0; index < list.length; index += 1) {
        const payload: unknown = list[index];
        if (payload instanceof MalformedPayload)
          return this.#failMalformed('a message in the stream is not valid JSON');
        const { steps, drops } = assembly;
        wire.event(payload, assembly);
        const isUnread = assembly.steps === steps && assembly.drops === drops && !assembly.hasEnded;
        if (isUnread && holdsData(payload))
          return this.#failMalformed(`it contains unknown data: ${JSON.stringify(payload).slice(0, 200)}`);
      }
    } catch (error) {
      return this.#failMalformed(AgentError.from(error).message);
    }
    if (assembly.fault !== undefined) return this.#reported();
    if (this.#phase !== 'stream') return;
    if (assembly.steps !== before) this.#lastProgress = this.#lastByte;
    if (assembly.hasEnded) this.#enter('trailing');
  }

  #reported(): void {
    const fault = this.#reading?.assembly.fault;
    if (fault === undefined) return;
    this.#fail(faultError(this.#provider, { ...fault, ...this.#requestId() }));
  }

  #failMalformed(why: string): void {
    // After the end, invalid data affects neither the response nor a failure that the service reported.
    if (this.#reading?.assembly.hasEnded) return this.#succeed();
    if (this.#reading?.assembly.fault !== undefined) return this.#reported();
    this.#fail(this.#networkError('garbled', `The response is invalid: ${why}.`));
  }

  #broken(doing: string, error: unknown): void {
    const host = this.#address?.host ?? 'the service';
    this.#fail(connectionError(this.#provider, host, doing, error));
  }

  #networkError(code: string, message: string): AgentError {
    return new AgentError({
      kind: 'network',
      code,
      message,
      provider: this.#provider,
      retryable: true,
      ...this.#requestId(),
    });
  }

  #requestId(): { requestId?: string } {
    const { requestIdHeader } = this.#attempt.service.wire;
    const requestId = requestIdHeader === undefined ? undefined : this.#response?.header(requestIdHeader);
    return requestId === undefined ? {} : { requestId };
  }

  #due(): Due<Late> {
    const { deadline, mayThink } = this.#attempt;
    const { timeouts } = this.#attempt.service;
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
        return mayThink || this.#reading?.assembly.isReasoning
          ? stall
          : nearer(stall, { at: this.#lastProgress + timeouts.progressMs, name: 'progress' });
      }
      case 'over':
        return never;
    }
  }

  #late(name: Late): void {
    if (this.#phase === 'trailing') return this.#succeed();
    if (name === 'rest') return this.#refuse();
    this.#fail(lateError(name, this.#attempt.service.timeouts, this.#provider), false);
  }

  #enter(phase: ExchangePhase): void {
    this.#phase = phase;
    if (phase === 'trailing') {
      // Usually the body ends together with the response, and then no timer is needed.
      void Promise.resolve().then(() => this.#watch.look());
      return;
    }
    this.#lastByte = this.#attempt.service.runtime.monotonic();
    this.#lastProgress = this.#lastByte;
    this.#watch.look();
  }

  get #provider(): string {
    return this.#attempt.service.wire.provider;
  }

  get #isOver(): boolean {
    return this.#phase === 'over';
  }

  #succeed(): void {
    if (this.#isOver || this.#reading === undefined) return;
    const { flaw } = this.#reading.assembly;
    if (flaw !== undefined)
      return this.#fail(this.#networkError('garbled', `The response is invalid: ${flaw}.`));
    const response = this.#response;
    const rateLimits = response && pickHeaders(this.#attempt.service.wire.rateLimitHeaders, response);
    const { requestId } = this.#requestId();
    // Response headers are logged, and a gateway may repeat the key in them.
    const redactor = this.#address?.redactor;
    this.#finish({
      type: 'answered',
      answer: this.#reading.assembly.answer(),
      requestId: requestId && redactor?.text(requestId),
      rateLimits: rateLimits && redactor?.values(rateLimits),
    });
  }

  #aborted(): void {
    const { signal } = this.#attempt;
    if (signal !== undefined) this.#fail(abortError(signal, this.#provider), false);
  }

  #fail(error: AgentError, retry: boolean = error.retryable): void {
    if (this.#isOver) return;
    const clean =
      this.#address === undefined || error === this.#attempt.signal?.reason
        ? error
        : this.#address.redactor.error(error);
    const assembly = this.#reading?.assembly;
    const sentBytes = this.#attempt.body.reduce((sum, { length }) => sum + length, 0);
    const wasted = assembly?.usedSoFar(sentBytes) ?? noUsage;
    // A service may report overload inside a stream before any content.
    const hasStarted = assembly !== undefined && (assembly.fault === undefined || !isNoUsage(wasted));
    const counted = hasStarted || likelyWrong.has(error.cause?.code ?? '');
    this.#finish({ type: 'failed', error: clean, retry, wasted, sent: this.#sent, counted });
  }

  #finish(outcome: AttemptOutcome): void {
    if (this.#isOver) return;
    this.#phase = 'over';
    this.#reading?.assembly.mute();
    // The connection may keep a reference to this exchange; release the response it received.
    this.#reading = undefined;
    this.#watch.stop();
    this.#attempt.signal?.removeEventListener('abort', this.#onAbort);
    if (!this.#bodyEnded) {
      this.#response?.close();
      this.#link.ask();
    }
    this.#settle(outcome);
  }
}

/**
 * Returns the payloads that the normal end of the body completes. Discards an incomplete last payload, which means that
 * the response was cut off.
 */
function lastPayloads(framer: Framer): unknown[] {
  try {
    return [...framer.end()].filter((payload) => !(payload instanceof MalformedPayload));
  } catch {
    return [];
  }
}

const never: Due<Late> = { at: Number.POSITIVE_INFINITY, name: 'total' };

function nearer(left: Due<Late>, right: Due<Late>): Due<Late> {
  return right.at < left.at ? right : left;
}
