import type { Runtime } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { pause } from '@cobbler/agent/runner';
import { backoff, defined } from '@cobbler/agent/values';

/**
 * Addresses of an engine. Several addresses of one kind are nodes of one cluster; requests go to any that responds.
 */
export interface EngineClientOptions {
  readonly ingress: readonly string[];
  readonly admin: readonly string[];
  /** Time limit for retries without a response, in milliseconds. */
  readonly timeoutMs: number;
  readonly runtime: Runtime;
}

export interface EngineCallOptions {
  /**
   * The same key for every attempt at one call: the call is executed once, and each attempt gets the same response.
   */
  readonly idempotencyKey?: string;
  readonly signal?: AbortSignal;
}

/** Time limit for one request, in milliseconds, before the next address is tried. */
const requestMs = 90_000;

const firstPauseMs = 50;
const maxPauseMs = 1000;

/** An HTTP client for calls to handlers and to the engine itself. */
export class Engine {
  readonly #options: EngineClientOptions;
  /** Index of the address that responded last. */
  #last = 0;

  constructor(options: EngineClientOptions) {
    this.#options = options;
  }

  /** Calls a handler and returns its result. @throws AgentError code `engine`, or the reason of the signal. */
  async call<Result>(path: string, body: unknown, options: EngineCallOptions = {}): Promise<Result> {
    const { idempotencyKey, signal } = options;
    const headers = {
      'content-type': 'application/json',
      ...defined({ 'idempotency-key': idempotencyKey }),
    };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const text = await this.#ask(this.#options.ingress, path, init, signal);
    return (text === '' ? undefined : JSON.parse(text)) as Result;
  }

  /**
   * Registers the handlers at an address; new calls go to them. Repeating it changes nothing, so all processes can do
   * it.
   * @param expected names of services and of their handlers
   */
  async register(uri: string, expected: Readonly<Record<string, readonly string[]>>): Promise<void> {
    try {
      const known = await this.#register(uri, false);
      // Restate does not discover the handlers of a registered address again, even if they have changed.
      if (isRegistered(known, expected)) return;
    } catch (error) {
      if (!AgentError.is(error) || error.status !== 409) throw error;
    }
    await this.#register(uri, true);
  }

  async #register(uri: string, force: boolean): Promise<Deployment> {
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify({ uri, force }) };
    return JSON.parse(await this.#ask(this.#options.admin, '/deployments', init)) as Deployment;
  }

  async #ask(
    bases: readonly string[],
    path: string,
    init: RequestInit,
    signal?: AbortSignal,
  ): Promise<string> {
    const { runtime, timeoutMs } = this.#options;
    const deadline = runtime.monotonic() + timeoutMs;
    for (let attempt = 0; ; attempt += 1) {
      signal?.throwIfAborted();
      const base = bases[(this.#last + attempt) % bases.length] ?? '';
      const answer = await this.#once(`${base}${path}`, init, signal);
      if (typeof answer === 'string') {
        this.#last = (this.#last + attempt) % bases.length;
        return answer;
      }
      signal?.throwIfAborted();
      // Another node may respond immediately, so the delay starts only after all of them were tried.
      const pauseMs = backoff(
        { baseMs: firstPauseMs, maxMs: maxPauseMs },
        Math.floor(attempt / bases.length),
      );
      if (!answer.retryable || runtime.monotonic() + pauseMs > deadline) throw answer;
      if ((attempt + 1) % bases.length === 0)
        await pause(runtime, pauseMs, signal ?? new AbortController().signal);
    }
  }

  async #once(url: string, init: RequestInit, signal?: AbortSignal): Promise<string | AgentError> {
    const late = new AbortController();
    const onAbort = () => late.abort(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    const takeBack = this.#options.runtime.timer(requestMs, () => late.abort());
    try {
      const response = await this.#options.runtime.fetch(url, { ...init, signal: late.signal });
      const text = await response.text();
      return response.ok ? text : refusal(url, response.status, text);
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : String(thrown);
      const message = `Cannot reach Restate at ${url} (${reason}). Check that Restate is running and that the connection settings are correct.`;
      return new AgentError({ kind: 'network', code: 'engine', message, retryable: true });
    } finally {
      takeBack();
      signal?.removeEventListener('abort', onAbort);
    }
  }
}

/** The engine's record of an address. */
interface Deployment {
  readonly services?: readonly {
    readonly name: string;
    readonly handlers?: readonly { readonly name: string }[];
  }[];
}

function isRegistered(
  { services = [] }: Deployment,
  expected: Readonly<Record<string, readonly string[]>>,
): boolean {
  return Object.entries(expected).every(([service, handlers]) => {
    const found = services.find(({ name }) => name === service)?.handlers ?? [];
    return handlers.every((handler) => found.some(({ name }) => name === handler));
  });
}

function refusal(url: string, status: number, text: string): AgentError {
  // 404 and 503 also occur while a service is not yet known, or its partition has no leader.
  const retryable = status >= 500 || status === 429 || status === 404;
  const message = `Restate rejected the request to ${url} with status ${status}: ${text.slice(0, 300)}`;
  return new AgentError({ kind: 'agent', code: 'engine', message, status, retryable });
}
