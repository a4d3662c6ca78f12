import { abortError } from '../interfaces/abort-error.ts';
import { AgentError } from '../values/errors.ts';
import { LazyAbortSignal } from '../values/lazy-abort-signal.ts';
import { isNoUsage, noUsage } from '../values/usage.ts';
import type { Attempt, FailedAttempt } from './attempt.ts';
import type { ResolvedEndpoint } from './http/address.ts';
import { joinBytes, lengthOf } from './http/bytes.ts';
import { authorizeRequest } from './http/credentials.ts';
import { ErrorBodyReader } from './http/error-body.ts';
import type { Headers } from './http/headers.ts';
import { lateError } from './http/timeouts.ts';
import { Assembly } from './response/assembler.ts';
import { refusal } from './response/error-response.ts';
import { connectionError, faultError } from './response/fault.ts';
import type { BodyReader, PayloadSink } from './wire/framing.ts';
import { accepts } from './wire/framing.ts';
import { OutgoingRequest } from './wire/outgoing-request.ts';
import { holdsData, MalformedPayload } from './wire/payload.ts';
import type { RawResponse } from './wire/transport.ts';
import type { Credentials } from './wire/wire.ts';

/** Maximum time to wait for usage after the end of a response, in milliseconds. */
const afterEndMs = 1_000;

/** Maximum time to wait for the rest of an error body, in milliseconds. */
const errorBodyMs = 5_000;

/** Codes of connection failures that usually recur, because the URL or proxy may be wrong. */
const likelyWrong: ReadonlySet<string> = new Set(['ENOTFOUND', 'ERR_PROXY_TUNNEL']);

const soon = Promise.resolve();

type ExchangePhase = 'head' | 'stream' | 'trailing' | 'refused' | 'over';

/**
 * Sends one request and reads the response. The response reader is created only when the response starts: most of the
 * time a request only waits, and many may wait at the same time.
 *
 * E1. Only the wire's `end` is success; the end of the body is not.
 * E2. It settles once, immediately when the signal aborts, and ignores whatever the transport does afterwards.
 * E3. It emits no events after it has settled.
 * E4. If it settles before the body has ended, the connection is destroyed.
 */
export class HttpExchange implements PayloadSink {
  readonly #attempt: Attempt;
  readonly #reject: (failed: FailedAttempt) => void;
  #link: LazyAbortSignal | undefined;
  #isSent = false;
  #credentials: Credentials | undefined;
  /** The response that is being received, and the reader of its body. */
  #assembly: Assembly | undefined;
  #body: BodyReader | undefined;
  #errorBody: ErrorBodyReader | undefined;
  #startedAt = 0;
  #phase: ExchangePhase = 'head';
  #bodyEnded = false;
  #endpoint: ResolvedEndpoint | undefined;
  #response: RawResponse | undefined;
  /** Times of the last byte and of the last progress reported by the wire, on the monotonic clock. */
  #lastByte = 0;
  #lastProgress = 0;
  /** The time for which the timer is set, on the monotonic clock. */
  #timerAt = Number.POSITIVE_INFINITY;
  #cancelTimer: (() => void) | undefined;

  /** @param reject receives a failure; the owner of the request receives the response. */
  constructor(attempt: Attempt, reject: (failed: FailedAttempt) => void) {
    this.#attempt = attempt;
    this.#reject = reject;
  }

  /** Sends the request at a time on the monotonic clock. */
  start(now: number): void {
    const { owner, service, deadline } = this.#attempt;
    const { stop } = owner;
    const { timeouts, endpoint } = service;
    this.#startedAt = now;
    if (stop !== undefined) {
      if (stop.isStopRequested) return this.#aborted();
      stop.listen(() => this.#aborted());
    }
    this.#setTimer(Math.min(deadline, now + timeouts.headersMs), now);
    try {
      const found = endpoint.known ?? endpoint.find();
      if (!(found instanceof Promise)) return this.#send(found);
      found.then(
        (known) => this.#send(known),
        (error) => this.#fail(AgentError.from(error, 'invalid')),
      );
    } catch (error) {
      this.#fail(AgentError.from(error, 'invalid'));
    }
  }

  /** @param authorized the headers with the credentials of the wire's `authorize`. */
  #send(endpoint: ResolvedEndpoint, authorized?: Headers): void {
    if (this.#phase === 'over') return;
    this.#endpoint = endpoint;
    const onError = (error: unknown) => this.#broken('Connecting to', error);
    const { envelope, body, service } = this.#attempt;
    const { wire } = service;
    try {
      if (envelope.sent?.endpoint !== endpoint.headers) {
        // A transport recognizes them, because they seldom change.
        const headers = Object.freeze({ ...service.headers, ...endpoint.headers, ...envelope.headers });
        envelope.sent = { endpoint: endpoint.headers, headers };
      }
      const headers = authorized ?? envelope.sent.headers;
      if (wire.authorize !== undefined && authorized === undefined)
        return void this.#authorize(endpoint, headers);
      this.#isSent = true;
      let answer: Promise<RawResponse>;
      if (wire.send === undefined) {
        const request = new OutgoingRequest(endpoint.url, headers, body);
        this.#link = request;
        answer = service.transport(request);
      } else {
        this.#link = new LazyAbortSignal();
        const { signal } = this.#link;
        // The vendor's client adds the headers of the endpoint.
        answer = wire.send(joinBytes(body), { signal, headers: { ...service.headers, ...envelope.headers } });
      }
      answer.then((response) => this.#onResponse(response), onError);
    } catch (error) {
      onError(error);
    }
  }

  async #authorize(endpoint: ResolvedEndpoint, headers: Headers): Promise<void> {
    this.#link = new LazyAbortSignal();
    try {
      const asked = await authorizeRequest(this.#attempt, endpoint, headers, this.#link);
      this.#credentials = asked.credentials;
      this.#send(asked.endpoint, asked.headers);
    } catch (error) {
      this.#fail(AgentError.from(error));
    }
  }

  #onResponse(response: RawResponse): void {
    if (this.#phase === 'over') return response.close();
    this.#response = response;
    const unexpected = (error: unknown) => this.#fail(AgentError.from(error));
    try {
      const { service, owner } = this.#attempt;
      const { status } = response;
      this.#lastByte = service.runtime.monotonic();
      this.#lastProgress = this.#lastByte;
      const isAnswer =
        status >= 200 && status < 300 && accepts(service.framing, response.header('content-type'));
      if (!isAnswer) {
        this.#readRefusal(response).catch(unexpected);
        return;
      }
      this.#phase = 'stream';
      const assembly = new Assembly(service.wire, owner.emit);
      this.#assembly = assembly;
      this.#body = service.framing.open(assembly);
      const onCut = (error: unknown) => {
        if (this.#assembly?.hasEnded) this.#succeed();
        else this.#broken('Reading the response from', error);
      };
      response.read((bytes) => this.#take(bytes)).then(() => this.#onEnd(), onCut);
    } catch (error) {
      unexpected(error);
    }
  }

  /** Handles the normal end of the body. Discards an incomplete last payload, which means that it was cut off. */
  #onEnd(): void {
    this.#bodyEnded = true;
    try {
      this.#take(undefined);
      if (this.#assembly === undefined) return;
      if (this.#assembly.hasEnded) return this.#succeed();
      const message = 'The response was cut off: the connection closed before the response was complete.';
      this.#fail(this.#networkError('cut', message));
    } catch (error) {
      this.#fail(AgentError.from(error));
    }
  }

  async #readRefusal(response: RawResponse): Promise<void> {
    this.#phase = 'refused';
    this.#setTimer(this.#dueAt(), this.#lastByte);
    const reader = new ErrorBodyReader();
    this.#errorBody = reader;
    await reader.read(response);
    this.#bodyEnded = !reader.result().isCut;
    this.#refuse();
  }

  #refuse(): void {
    const response = this.#response;
    const endpoint = this.#endpoint;
    const body = this.#errorBody?.result();
    if (this.#phase === 'over' || response === undefined || endpoint === undefined || body === undefined)
      return;
    const { wire, runtime, framing } = this.#attempt.service;
    this.#fail(refusal({ wire, runtime, framing, address: endpoint, response, body }));
  }

  /** Processes a chunk of the body, or what its end completes. Must not throw: transports call it from their events. */
  #take(bytes: Uint8Array | undefined): void {
    const assembly = this.#assembly;
    const body = this.#body;
    if (assembly === undefined || body === undefined) return;
    const before = assembly.steps;
    try {
      if (bytes === undefined) body.end(this);
      else {
        this.#lastByte = this.#attempt.service.runtime.monotonic();
        body.push(bytes, this);
      }
    } catch (error) {
      return this.#failMalformed(AgentError.from(error).message);
    }
    if (assembly.fault !== undefined) return this.#reported();
    if (this.#phase !== 'stream') return;
    if (assembly.steps !== before) this.#lastProgress = this.#lastByte;
    if (!assembly.hasEnded) return;
    this.#phase = 'trailing';
    // Usually the body ends together with the response, and then no timer is needed. Node reports that end one microtask
    // later than the last bytes.
    if (this.#bodyEnded) return;
    void soon.then(() => queueMicrotask(() => this.#awaitTrailer()));
  }

  #awaitTrailer(): void {
    const { runtime } = this.#attempt.service;
    if (this.#phase === 'trailing') this.#setTimer(this.#dueAt(), runtime.monotonic());
  }

  payload(payload: unknown): void {
    const assembly = this.#assembly;
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
    const fault = this.#assembly?.fault;
    if (fault === undefined) return;
    this.#fail(faultError(this.#provider, { ...fault, ...this.#requestId() }));
  }

  #failMalformed(why: string): void {
    // After the end, invalid data affects neither the response nor a failure that the service reported.
    if (this.#assembly?.hasEnded) return this.#succeed();
    if (this.#assembly?.fault !== undefined) return this.#reported();
    this.#fail(this.#networkError('garbled', `The response is invalid: ${why}.`));
  }

  #broken(doing: string, error: unknown): void {
    const host = this.#endpoint?.host ?? 'the service';
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

  /** Returns the nearest deadline, on the monotonic clock. */
  #dueAt(): number {
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
        const mayBeSilent = envelope.request.effort !== undefined || this.#assembly?.isReasoning;
        return mayBeSilent ? stall : Math.min(stall, this.#lastProgress + progressMs);
      }
      case 'over':
        return Number.POSITIVE_INFINITY;
    }
  }

  /**
   * Sets the timer, unless it is set for an earlier time. One timer watches the deadline as it moves: progress only
   * updates a timestamp, because setting a timer for every delta costs more than reading the delta.
   */
  #setTimer(due: number, now: number): void {
    const { runtime, maxTimerMs } = this.#attempt.service;
    if (due >= this.#timerAt) return;
    this.#cancelTimer?.();
    const wait = Math.min(Math.max(due - now, 0), maxTimerMs);
    this.#timerAt = now + wait;
    this.#cancelTimer = runtime.timer(wait, () => this.#onTimer());
  }

  #onTimer(): void {
    this.#cancelTimer = undefined;
    this.#timerAt = Number.POSITIVE_INFINITY;
    const now = this.#attempt.service.runtime.monotonic();
    const due = this.#dueAt();
    if (now < due) return this.#setTimer(due, now);
    if (this.#phase === 'trailing') return this.#succeed();
    const { deadline, service } = this.#attempt;
    if (due !== deadline && this.#phase === 'refused') return this.#refuse();
    const name = due === deadline ? 'total' : this.#phase === 'head' ? 'head' : this.#silence(due);
    this.#fail(lateError(name, service.timeouts, this.#provider), false);
  }

  #silence(due: number): 'stall' | 'progress' {
    return due === this.#lastByte + this.#attempt.service.timeouts.stallMs ? 'stall' : 'progress';
  }

  get #provider(): string {
    return this.#attempt.service.wire.provider;
  }

  #succeed(): void {
    const assembly = this.#assembly;
    if (assembly === undefined) return;
    const { flaw } = assembly;
    if (flaw !== undefined)
      return this.#fail(this.#networkError('garbled', `The response is invalid: ${flaw}.`));
    const { service, owner, attempts, wasted } = this.#attempt;
    const { model, rateLimits } = service;
    const received = this.#response;
    // Response headers are logged, and a gateway may repeat the key in them.
    const redactor = this.#endpoint?.redactor;
    const requestId = this.#responseId();
    const limits = received && rateLimits?.(received);
    const response = assembly.response({
      model,
      attempts,
      wasted,
      requestId: requestId && redactor?.text(requestId),
      rateLimits: limits && redactor?.values(limits),
    });
    this.#finish();
    owner.resolve(response);
  }

  #aborted(): void {
    this.#fail(abortError(this.#attempt.owner.stop?.reason, this.#provider), false);
  }

  #fail(error: AgentError, retry: boolean = error.retryable): void {
    if (this.#phase === 'over') return;
    const clean =
      this.#endpoint === undefined || error === this.#attempt.owner.stop?.reason
        ? error
        : this.#endpoint.redactor.error(error);
    const assembly = this.#assembly;
    const wasted = assembly?.usedSoFar(lengthOf(this.#attempt.body)) ?? noUsage;
    // A service may report overload inside a stream before any content.
    const hasStarted = assembly !== undefined && (assembly.fault === undefined || !isNoUsage(wasted));
    const counted = hasStarted || likelyWrong.has(error.cause?.code ?? '');
    this.#finish();
    this.#reject({
      error: clean,
      retry,
      wasted,
      sent: this.#isSent,
      credentials: this.#credentials,
      counted,
    });
  }

  #finish(): void {
    this.#phase = 'over';
    this.#assembly?.mute();
    // The connection may keep a reference to this exchange; release the response it received.
    this.#assembly = undefined;
    this.#body = undefined;
    this.#cancelTimer?.();
    this.#attempt.owner.stop?.listen(undefined);
    if (!this.#bodyEnded) {
      this.#response?.close();
      this.#link?.ask();
    }
  }
}
