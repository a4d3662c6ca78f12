/**
 * Characters that could control a terminal or deceive its reader: C0 except newline and tab, DEL, C1 (which contains
 * a single-byte CSI and OSC), text direction marks, and the two Unicode line breaks.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is the purpose.
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Escapes text of a model, a tool or a service for display: control characters become visible escapes such as `\x1b`,
 * so that every escape sequence on the terminal is our own. Newlines and tabs remain, and a carriage return before a
 * newline is removed.
 */
export function visible(text: string): string {
  return text.toWellFormed().replaceAll('\r\n', '\n').replace(unsafe, escapeCharacter);
}

/** {@link visible} for streamed text: a character whose meaning depends on the next one is held back. */
export class VisibleStream {
  #held = '';

  push(text: string): string {
    const whole = this.#held + text;
    // A carriage return may belong to a line break, and a high surrogate to a character.
    const end = /[\r\ud800-\udbff]$/.test(whole) ? whole.length - 1 : whole.length;
    this.#held = whole.slice(end);
    return visible(whole.slice(0, end));
  }

  /** Returns the pending text. */
  end(): string {
    const rest = visible(this.#held);
    this.#held = '';
    return rest;
  }
}

/** Escapes JSON for display. JSON has no raw C0 characters; the others become `\u` escapes, which parsers read the same. */
export function visibleJson(json: string): string {
  return json.replace(unsafe, (character) => `\\u${hex(character, 4)}`);
}

/** Returns a value as one line of JSON for display. */
export function jsonLine(value: unknown): string {
  return `${visibleJson(JSON.stringify(value))}\n`;
}

function escapeCharacter(character: string): string {
  return character.charCodeAt(0) < 0x100 ? `\\x${hex(character, 2)}` : `\\u${hex(character, 4)}`;
}

function hex(character: string, digits: number): string {
  return character.charCodeAt(0).toString(16).padStart(digits, '0');
}
