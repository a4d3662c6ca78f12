import { AgentError } from '@cobbler/agent';
import type { Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { Problem } from '../requests/problem.ts';
import type { Services } from './services.ts';

/** Returns the routes for operators of the server. */
export function operationRoutes({ meters, readiness }: Services): Route[] {
  return [
    route({
      method: 'GET',
      path: '/livez',
      name: 'live',
      summary: 'Returns 200 while the process is running.',
      answers: { 200: { text: 'The process is running.' } },
      handle: () => ({ status: 200, json: { status: 'ok' } }),
    }),
    route({
      method: 'GET',
      path: '/readyz',
      name: 'ready',
      summary:
        'Returns 200 while the server can accept prompts. To check this, it writes test data to the store.',
      answers: {
        200: { text: 'The server accepts prompts.' },
        503: { text: 'The store is not writable, or the server is stopping.' },
      },
      handle: async () => {
        const reason = await readiness();
        if (reason === undefined) return { status: 200, json: { status: 'ready' } };
        throw new Problem(503, 'not_ready', reason, { headers: { 'retry-after': '5' } });
      },
    }),
    route({
      method: 'GET',
      path: '/metrics',
      name: 'metrics',
      summary: 'Metrics in the Prometheus text format.',
      scope: 'read',
      answers: { 200: { text: 'All metrics.', type: 'text/plain' } },
      handle: () => ({
        status: 200,
        text: meters.text(),
        headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
      }),
    }),
  ];
}

interface ReadinessOptions {
  /** Tests a write in the store. */
  readonly probe: () => Promise<void>;
  /** Time for which a result is reused, in milliseconds. */
  readonly reuseMs: number;
  /** Time limit for the store, in milliseconds. */
  readonly timeoutMs: number;
  /** Called when the result changes, with the reason if the store fails. */
  readonly onChange: (failure: AgentError | undefined) => void;
  /** The monotonic clock, in milliseconds. */
  readonly now?: () => number;
}

/** Checks that prompts can be stored. One probe runs at a time, and requests within a short time share its result. */
export class Readiness {
  readonly #options: ReadinessOptions;
  #probing: Promise<AgentError | undefined> | undefined;
  #last: { readonly at: number; readonly failure: AgentError | undefined } | undefined;

  constructor(options: ReadinessOptions) {
    this.#options = options;
  }

  /**
   * Returns why prompts cannot be stored; undefined if they can. It omits the store's own message, which may contain
   * paths.
   */
  async reason(): Promise<string | undefined> {
    const failure = await this.#failure();
    return failure && `Cannot write to the store (${failure.code ?? failure.kind}). See the server log.`;
  }

  #failure(): Promise<AgentError | undefined> {
    const { now = () => performance.now(), reuseMs } = this.#options;
    if (this.#last !== undefined && now() - this.#last.at < reuseMs)
      return Promise.resolve(this.#last.failure);
    this.#probing ??= this.#probe().then((failure) => {
      if (this.#last?.failure?.code !== failure?.code) this.#options.onChange(failure);
      this.#last = { at: now(), failure };
      this.#probing = undefined;
      return failure;
    });
    return this.#probing;
  }

  async #probe(): Promise<AgentError | undefined> {
    const { probe, timeoutMs } = this.#options;
    const late = Promise.withResolvers<AgentError>();
    const message = `The store did not respond within ${timeoutMs} ms.`;
    const timer = setTimeout(
      () => late.resolve(new AgentError({ kind: 'agent', code: 'store_busy', message })),
      timeoutMs,
    );
    try {
      return await Promise.race([probe(), late.promise]).then((failure) => failure ?? undefined);
    } catch (error) {
      return AgentError.from(error);
    } finally {
      clearTimeout(timer);
    }
  }
}
