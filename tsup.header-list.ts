/**
 * Stands in for `Headers` in the bundled client, which uses it only as a list. Node's own class loads all of Node's
 * `fetch`, which takes longer than the rest of the first request.
 */
export class HeaderList {
  readonly #values = new Map<string, string>();

  constructor(given: Iterable<readonly [string, string]> | Readonly<Record<string, string>> = []) {
    const entries = Symbol.iterator in given ? given : Object.entries(given);
    for (const [name, value] of entries) this.append(name, value);
  }

  append(name: string, value: string): void {
    const before = this.get(name);
    this.set(name, before === null ? value : `${before}, ${value}`);
  }

  set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), String(value).trim());
  }

  get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  /** Returns the headers in the order of their names, like `Headers`. */
  entries(): IterableIterator<[string, string]> {
    return [...this.#values].sort(([left], [right]) => (left < right ? -1 : 1)).values();
  }

  [Symbol.iterator](): IterableIterator<[string, string]> {
    return this.entries();
  }
}
