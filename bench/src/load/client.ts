import type { Figures } from './figures.ts';

/** The server under load. */
export interface Target {
  /** Without a slash at its end. */
  readonly url: string;
  readonly token: string;
}

/** How long an answer may take, in milliseconds, before it counts as none. */
const patienceMs = 60_000;

/** Asks a server, and notes how long each answer took and what came instead. */
export class Client {
  readonly target: Target;
  readonly #figures: Figures;

  constructor(target: Target, figures: Figures) {
    this.target = target;
    this.#figures = figures;
  }

  /**
   * The answer, or nothing when it was another than expected; that is counted.
   * @param name what the time is noted under; it names the error too
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

/** Why there was no answer, as far as `fetch` tells. */
export function whyNot(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : error.name;
}
