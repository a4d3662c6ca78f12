import type { Counter } from '@cobbler/conformance';

/** Lines that runs write, stored outside of the engine so that they outlive it. */
export class Lines implements Counter {
  readonly #lines = new Map<string, string[]>();

  async add(name: string, text: string): Promise<number> {
    const lines = this.#lines.get(name) ?? [];
    this.#lines.set(name, lines);
    return lines.push(text);
  }

  async list(name: string): Promise<readonly string[]> {
    return [...(this.#lines.get(name) ?? [])];
  }

  async reached(name: string): Promise<void> {
    while (!this.#lines.has(name)) await new Promise((resolve) => setTimeout(resolve, 10));
  }

  /** Serves the lines over HTTP. */
  async answer(request: Request): Promise<Response> {
    const { add, list, text = '' } = (await request.json()) as { add?: string; list?: string; text?: string };
    return Response.json(add === undefined ? await this.list(list ?? '') : await this.add(add, text));
  }
}
