/**
 * Characters that could control a terminal or deceive its reader: C0 except newline and tab, DEL, C1 (where a single
 * byte is CSI or OSC), text direction marks, and the two Unicode line breaks.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is the purpose.
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Text of a model, a tool or a service as it may be shown: control characters become visible escapes such
 * as `\x1b`, so that every escape sequence on the terminal is our own. Newlines and tabs stay, and a
 * carriage return before a newline is dropped.
 */
export function visible(text: string): string {
  return text.toWellFormed().replaceAll('\r\n', '\n').replace(unsafe, escaped);
}

/** {@link visible} for text that comes in pieces: what means something only with its neighbour waits for it. */
export class VisibleStream {
  #held = '';

  push(text: string): string {
    const whole = this.#held + text;
    // A carriage return may belong to a line break, the first half of a character to the second.
    const end = /[\r\ud800-\udbff]$/.test(whole) ? whole.length - 1 : whole.length;
    this.#held = whole.slice(end);
    return visible(whole.slice(0, end));
  }

  /** The pending text. */
  end(): string {
    const rest = visible(this.#held);
    this.#held = '';
    return rest;
  }
}

/** Like {@link visible}, on one line: line breaks too become visible, tabs become blanks. */
export function oneLine(text: string): string {
  return visible(text.trim()).replaceAll('\n', '\\n').replaceAll('\t', ' ');
}

/** JSON is safe from C0 already; the rest is written as `\u` escapes, which mean the same to its reader. */
export function visibleJson(json: string): string {
  return json.replace(unsafe, (character) => `\\u${hex(character, 4)}`);
}

function escaped(character: string): string {
  return character.charCodeAt(0) < 0x100 ? `\\x${hex(character, 2)}` : `\\u${hex(character, 4)}`;
}

function hex(character: string, digits: number): string {
  return character.charCodeAt(0).toString(16).padStart(digits, '0');
}
