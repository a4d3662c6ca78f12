import { AgentError } from '../values/errors.ts';
import { LazyAbortSignal } from '../values/lazy-abort-signal.ts';
import { isNoUsage, noUsage } from '../values/usage.ts';
import type { Attempt, AttemptOutcome } from './attempt.ts';
import { abortError } from './http/abort.ts';
import type { ResolvedEndpoint } from './http/address.ts';
import { joinBytes, lengthOf } from './http/bytes.ts';
import type { Timed } from './http/deadline.ts';
import { DeadlineTimer } from './http/deadline.ts';
import { ErrorBodyReader } from './http/error-body.ts';
import type { Headers } from './http/headers.ts';
import { OutgoingRequest } from './http/outgoing-request.ts';
import { lateError } from './http/timeouts.ts';
import { Assembly } from './response/assembler.ts';
import { refusal } from './response/error-response.ts';
import { connectionError, faultError } from './response/fault.ts';
import type { BodyReader, PayloadSink } from './wire/framing.ts';
import { accepts } from './wire/framing.ts';
import { holdsData, MalformedPayload } from './wire/payload.ts';
import type { RawResponse } from './wire/transport.ts';

/** Maximum time to wait for usage after the end of a response, in milliseconds. */
const afterEndMs = 1_000;

/** Maximum time to wait for the rest of an error body, in milliseconds. */
const errorBodyMs = 5_000;

/** Codes of connection failures that usually recur, because the URL or proxy may be wrong. */
const likelyWrong: ReadonlySet<string> = new Set(['ENOTFOUND', 'ERR_PROXY_TUNNEL']);

const none: Headers = {};

const soon = Promise.resolve();

type ExchangePhase = 'head' | 'stream' | 'trailing' | 'refused' | 'over';

/** A response that is being received. */
interface ResponseReading {
  readonly body: BodyReader;
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
export function exchange(attempt: Attempt, settle: (outcome: AttemptOutcome) => void): void {
  new HttpExchange(attempt, settle).start();
}

class HttpExchange implements Timed, PayloadSink {
  readonly #attempt: Attempt;
  readonly #settle: (outcome: AttemptOutcome) => void;
  readonly #watch: DeadlineTimer;
  #link: LazyAbortSignal | undefined;
  #reading: ResponseReading | undefined;
  #errorBody: ErrorBodyReader | undefined;
  readonly #startedAt: number;
  #phase: ExchangePhase = 'head';
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
    const maxMs = Math.min(timeouts.headersMs, timeouts.stallMs, timeouts.progressMs);
    this.#watch = new DeadlineTimer(runtime, maxMs, this);
  }

  start(): void {
    const { stop, service } = this.#attempt;
    if (stop !== undefined) {
      if (stop.isStopRequested) return this.#aborted();
      stop.listen(() => this.#aborted());
    }
    this.#watch.look(this.#startedAt);
    try {
      const address = service.address();
      if (!(address instanceof Promise)) return this.#connect(address);
      address.then(
        (found) => this.#connect(found),
        (error) => this.#fail(AgentError.from(error, 'invalid')),
      );
    } catch (error) {
      this.#fail(AgentError.from(error, 'invalid'));
    }
  }

  #connect(address: ResolvedEndpoint): void {
    if (this.#phase === 'over') return;
    this.#address = address;
    const onError = (error: unknown) => this.#broken('Connecting to', error);
    try {
      this.#send(address).then((response) => this.#onResponse(response), onError);
    } catch (error) {
      onError(error);
    }
  }

  #onResponse(response: RawResponse): void {
    if (this.#phase === 'over') return response.close();
    this.#response = response;
    const unexpected = (error: unknown) => this.#fail(AgentError.from(error));
    try {
      if (this.#isAnswer(response)) this.#readAnswer(response);
      else this.#readRefusal(response).catch(unexpected);
    } catch (error) {
      unexpected(error);
    }
  }

  #send(address: ResolvedEndpoint): Promise<RawResponse> {
    const { envelope, body, service } = this.#attempt;
    const { wire, transport, headers } = service;
    if (wire.send !== undefined) {
      this.#link = new LazyAbortSignal();
      const { signal } = this.#link;
      // The vendor's client adds the headers of the endpoint.
      return wire.send(joinBytes(body), { signal, headers: { ...headers(none, envelope.headers) } });
    }
    const joined = headers(address.headers, envelope.headers);
    const request = new OutgoingRequest(address.url, joined, body);
    this.#link = request;
    return transport(request);
  }

  #isAnswer(response: RawResponse): boolean {
    const { status } = response;
    const { framing } = this.#attempt.service;
    return status >= 200 && status < 300 && accepts(framing, response.header('content-type'));
  }

  #readAnswer(response: RawResponse): void {
    const { service, emit } = this.#attempt;
    const assembly = new Assembly(service.wire, emit);
    this.#reading = { body: service.framing.open(assembly), assembly };
    this.#enter('stream');
    const onCut = (error: unknown) => {
      if (this.#reading?.assembly.hasEnded) this.#succeed();
      else this.#broken('Reading the response from', error);
    };
    response.read((bytes) => this.#take(bytes)).then(() => this.#onEnd(), onCut);
  }

  /** Handles the normal end of the body. Discards an incomplete last payload, which means that it was cut off. */
  #onEnd(): void {
    this.#bodyEnded = true;
    const reading = this.#reading;
    if (reading === undefined) return;
    try {
      this.#feed(reading, undefined);
      if (this.#phase === 'over') return;
      if (reading.assembly.hasEnded) return this.#succeed();
      const message = 'The response was cut off: the connection closed before it was complete.';
      this.#fail(this.#networkError('cut', message));
    } catch (error) {
      this.#fail(AgentError.from(error));
    }
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
    if (this.#phase === 'over' || response === undefined || address === undefined || body === undefined)
      return;
    const { wire, runtime, framing } = this.#attempt.service;
    this.#fail(refusal({ wire, runtime, framing, address, response, body }));
  }

  /** Processes one chunk of the body. Must not throw, because transports call it from their own events. */
  #take(bytes: Uint8Array): void {
    const reading = this.#reading;
    if (reading === undefined) return;
    this.#lastByte = this.#attempt.service.runtime.monotonic();
    this.#feed(reading, bytes);
  }

  /** Reads a chunk, or what the end of the body completes. */
  #feed({ body, assembly }: ResponseReading, bytes: Uint8Array | undefined): void {
    const before = assembly.steps;
    try {
      if (bytes === undefined) body.end(this);
      else body.push(bytes, this);
    } catch (error) {
      return this.#failMalformed(AgentError.from(error).message);
    }
    if (assembly.fault !== undefined) return this.#reported();
    if (this.#phase !== 'stream') return;
    if (assembly.steps !== before) this.#lastProgress = this.#lastByte;
    if (assembly.hasEnded) this.#enter('trailing');
  }

  payload(payload: unknown): void {
    const assembly = this.#reading?.assembly;
    // An earlier payload of the chunk can have failed the response.
    if (assembly === undefined) return;
    if (payload instanceof MalformedPayload) {
      if (!this.#bodyEnded) this.#failMalformed('a message in the stream is not valid JSON');
      return;
    }
    const { steps, drops } = assembly;
    this.#attempt.service.wire.event(payload, assembly);
    const isUnread = assembly.steps === steps && assembly.drops === drops && !assembly.hasEnded;
    if (isUnread && holdsData(payload))
      this.#failMalformed(`it contains unknown data: ${JSON.stringify(payload).slice(0, 200)}`);
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
    const requestId = this.#responseId();
    return requestId === undefined ? {} : { requestId };
  }

  #responseId(): string | undefined {
    const { requestIdHeader } = this.#attempt.service.wire;
    return requestIdHeader === undefined ? undefined : this.#response?.header(requestIdHeader);
  }

  dueAt(): number {
    const { deadline, envelope, service } = this.#attempt;
    const { headersMs, stallMs, progressMs } = service.timeouts;
    switch (this.#phase) {
      case 'head':
        return Math.min(deadline, this.#startedAt + headersMs);
      case 'refused':
        return Math.min(deadline, this.#lastByte + errorBodyMs);
      case 'trailing':
        return Math.min(deadline, this.#lastProgress + afterEndMs);
      case 'stream': {
        const stall = Math.min(deadline, this.#lastByte + stallMs);
        // If reasoning was requested, a long silence is normal.
        const mayBeSilent = envelope.request.effort !== undefined || this.#reading?.assembly.isReasoning;
        return mayBeSilent ? stall : Math.min(stall, this.#lastProgress + progressMs);
      }
      case 'over':
        return Number.POSITIVE_INFINITY;
    }
  }

  onDue(): void {
    if (this.#phase === 'trailing') return this.#succeed();
    const { deadline, service } = this.#attempt;
    const due = this.dueAt();
    if (due !== deadline && this.#phase === 'refused') return this.#refuse();
    const name = due === deadline ? 'total' : this.#phase === 'head' ? 'head' : this.#silence(due);
    this.#fail(lateError(name, service.timeouts, this.#provider), false);
  }

  #silence(due: number): 'stall' | 'progress' {
    return due === this.#lastByte + this.#attempt.service.timeouts.stallMs ? 'stall' : 'progress';
  }

  #enter(phase: ExchangePhase): void {
    this.#phase = phase;
    const { runtime } = this.#attempt.service;
    if (phase === 'trailing') {
      // Usually the body ends together with the response, and then no timer is needed.
      void soon.then(() => {
        if (this.#phase === 'trailing') this.#watch.look(runtime.monotonic());
      });
      return;
    }
    this.#lastByte = runtime.monotonic();
    this.#lastProgress = this.#lastByte;
    this.#watch.look(this.#lastByte);
  }

  get #provider(): string {
    return this.#attempt.service.wire.provider;
  }

  #succeed(): void {
    if (this.#phase === 'over' || this.#reading === undefined) return;
    const { assembly } = this.#reading;
    const { flaw } = assembly;
    if (flaw !== undefined)
      return this.#fail(this.#networkError('garbled', `The response is invalid: ${flaw}.`));
    const received = this.#response;
    const rateLimits = received && this.#attempt.service.rateLimits?.(received);
    const requestId = this.#responseId();
    // Response headers are logged, and a gateway may repeat the key in them.
    const redactor = this.#address?.redactor;
    const response = assembly.response({
      model: this.#attempt.service.model,
      requestId: requestId && redactor?.text(requestId),
      rateLimits: rateLimits && redactor?.values(rateLimits),
    });
    this.#finish({ type: 'answered', response });
  }

  #aborted(): void {
    this.#fail(abortError(this.#attempt.stop?.reason, this.#provider), false);
  }

  #fail(error: AgentError, retry: boolean = error.retryable): void {
    if (this.#phase === 'over') return;
    const clean =
      this.#address === undefined || error === this.#attempt.stop?.reason
        ? error
        : this.#address.redactor.error(error);
    const assembly = this.#reading?.assembly;
    const wasted = assembly?.usedSoFar(lengthOf(this.#attempt.body)) ?? noUsage;
    // A service may report overload inside a stream before any content.
    const hasStarted = assembly !== undefined && (assembly.fault === undefined || !isNoUsage(wasted));
    const counted = hasStarted || likelyWrong.has(error.cause?.code ?? '');
    this.#finish({ type: 'failed', error: clean, retry, wasted, sent: this.#link !== undefined, counted });
  }

  #finish(outcome: AttemptOutcome): void {
    if (this.#phase === 'over') return;
    this.#phase = 'over';
    this.#reading?.assembly.mute();
    // The connection may keep a reference to this exchange; release the response it received.
    this.#reading = undefined;
    this.#watch.stop();
    this.#attempt.stop?.listen(undefined);
    if (!this.#bodyEnded) {
      this.#response?.close();
      this.#link?.ask();
    }
    this.#settle(outcome);
  }
}
