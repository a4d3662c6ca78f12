import type { Scrubber } from '../provider/http/redact.ts';
import { scrubberOf } from '../provider/http/redact.ts';
import type { Json, JsonObject } from '../values/json.ts';
import { isObject } from '../values/json.ts';

/** Shorter texts, such as the `none` that local servers take for a key, are words and no secrets. */
const minLength = 8;

/** Keeps the secrets that must never stand in a cassette, and takes them out of whatever goes there. */
export class Redaction {
  readonly #secrets = new Set<string>();
  #scrubber: Scrubber = scrubberOf([]);

  learn(secrets: readonly string[]): void {
    const known = this.#secrets.size;
    for (const secret of secrets) if (secret.length >= minLength) this.#secrets.add(secret);
    if (this.#secrets.size > known) this.#scrubber = scrubberOf([...this.#secrets]);
  }

  /** Whether the text holds a secret. */
  finds(text: string): boolean {
    return this.#scrubber.text(text) !== text;
  }

  /** The same data without secrets in any text, names of fields included. */
  object(value: JsonObject): JsonObject {
    const clean = this.json(value);
    return isObject(clean) ? (clean as JsonObject) : {};
  }

  /** The same value without secrets in any text. */
  json(value: Json): Json {
    if (typeof value === 'string') return this.#scrubber.text(value);
    if (Array.isArray(value)) return value.map((item) => this.json(item));
    if (typeof value !== 'object' || value === null) return value;
    const fields = Object.entries(value);
    return Object.fromEntries(fields.map(([name, field]) => [this.#scrubber.text(name), this.json(field)]));
  }

  /**
   * Cleans a text that comes in pieces, the last one marked. What may be the beginning of a secret is held
   * back until the next piece shows whether it is.
   */
  stream(): (piece: string, isLast?: boolean) => string {
    let held = '';
    return (piece, isLast = false) => {
      const clean = this.#scrubber.text(held + piece);
      const kept = isLast ? 0 : this.#scrubber.unfinished(clean);
      held = clean.slice(clean.length - kept);
      return clean.slice(0, clean.length - kept);
    };
  }
}
