import type { Figures } from './figures.ts';

/** The server under load. */
export interface Target {
  /** Base URL without a trailing slash. */
  readonly url: string;
  readonly token: string;
}

/** Time limit for a response, in milliseconds. */
const patienceMs = 60_000;

/** Sends requests to a server, and records the duration of each response and every failure. */
export class Client {
  readonly target: Target;
  readonly #figures: Figures;

  constructor(target: Target, figures: Figures) {
    this.target = target;
    this.#figures = figures;
  }

  /**
   * Sends a request. Returns the response, or undefined if it is not the expected one, which is counted as an error.
   * @param name label for the duration and the error
   */
  async ask(
    name: string,
    expected: number,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Record<string, unknown> | undefined> {
    const { url, token } = this.target;
    const began = performance.now();
    try {
      const response = await fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        signal: AbortSignal.timeout(patienceMs),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (response.status === expected) {
        this.#figures.took(name, performance.now() - began);
        return jsonOf(text);
      }
      const code = jsonOf(text)['code'];
      this.#figures.failed(`${name}: ${response.status}${typeof code === 'string' ? ` ${code}` : ''}`);
    } catch (error) {
      this.#figures.failed(`${name}: ${whyNot(error)}`);
    }
    return undefined;
  }
}

function jsonOf(text: string): Record<string, unknown> {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null ? { ...json } : {};
  } catch {
    return {};
  }
}

/** Returns why there was no response, as far as `fetch` reports it. */
export function whyNot(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.name;
}
