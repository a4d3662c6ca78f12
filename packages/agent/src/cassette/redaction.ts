import type { Redactor } from '../provider/http/redact.ts';
import { createRedactor } from '../provider/http/redact.ts';
import type { Json, JsonObject } from '../values/json.ts';
import { isObject } from '../values/json.ts';

/** Minimum length of a secret. Shorter strings, such as the key `none` that local servers accept, are ordinary words. */
const minLength = 8;

/** Holds the secrets that must never be in a cassette and removes them from everything that is written to it. */
export class Redaction {
  readonly #secrets = new Set<string>();
  #redactor: Redactor = createRedactor([]);

  learn(secrets: readonly string[]): void {
    const known = this.#secrets.size;
    for (const secret of secrets) if (secret.length >= minLength) this.#secrets.add(secret);
    if (this.#secrets.size > known) this.#redactor = createRedactor([...this.#secrets]);
  }

  /** Returns whether the text contains a secret. */
  finds(text: string): boolean {
    return this.#redactor.text(text) !== text;
  }

  /** Returns the same data with secrets removed from all strings, field names included. */
  object(value: JsonObject): JsonObject {
    const clean = this.json(value);
    return isObject(clean) ? (clean as JsonObject) : {};
  }

  /** Returns the same value with secrets removed from all strings. */
  json(value: Json): Json {
    if (typeof value === 'string') return this.#redactor.text(value);
    if (Array.isArray(value)) return value.map((item) => this.json(item));
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value);
    return Object.fromEntries(fields.map(([name, field]) => [this.#redactor.text(name), this.json(field)]));
  }

  /**
   * Returns a function that removes secrets from a text that arrives in chunks, the last of which is marked. A
   * possible start of a secret is held back until the next chunk shows whether it is one.
   */
  stream(): (chunk: string, isLast?: boolean) => string {
    let held = '';
    return (chunk, isLast = false) => {
      const clean = this.#redactor.text(held + chunk);
      const kept = isLast ? 0 : this.#redactor.unfinished(clean);
      held = clean.slice(clean.length - kept);
      return clean.slice(0, clean.length - kept);
    };
  }
}
