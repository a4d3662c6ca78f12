import type { Style } from './style.ts';

/** A word as it is measured and as it is written. */
export interface StyledWord {
  readonly plain: string;
  readonly styled: string;
}

/** `[text](address)`, or `![text](address)` for an image. An address can contain pairs of parentheses. */
const link = /^!?\[([^[\]\n]+)\]\(<?((?:[^\s()<>]|\([^\s()<>]*\))+)>?(?: "[^"\n]*")?\)/;

/** The start of a link, which waits for more text. */
const openLink =
  /^!?(?:\[[^[\]\n]*(?:\](?:\(<?(?:[^\s()<>]|\([^\s()<>]*\))*(?:\([^\s()<>]*|>?(?: (?:"[^"\n]*"?)?)?))?)?)?$/;

/** Longer ones are shown like other text. */
const maxLink = 1000;

/** A link as the words of its text, then its address in parentheses; an address that is the text is not repeated. */
export interface Link {
  readonly length: number;
  readonly words: readonly string[];
  readonly address: string;
}

/** Returns the link at the start of a text; `open` if more text is needed to know. */
export function linkAt(text: string): Link | 'open' | undefined {
  const [whole, label = '', address = ''] = link.exec(text.slice(0, maxLink)) ?? [];
  if (whole === undefined)
    return text !== '' && text.length < maxLink && openLink.test(text) ? 'open' : undefined;
  const words = label.split(/[ \t]+/).filter((word) => word !== '');
  return { length: whole.length, words, address: label.trim() === address ? '' : `(${address})` };
}

/**
 * Styles emphasis, code and strikethrough, which may span words but not lines. Without colors the markers remain,
 * because they then carry the meaning.
 */
export class InlineStyle {
  readonly #style: Style;
  #bold = false;
  #italic = false;
  #code = false;
  #struck = false;

  constructor(style: Style) {
    this.#style = style;
  }

  /** True inside a code span, where nothing but its end has a meaning. */
  get isCode(): boolean {
    return this.#code;
  }

  /** Returns a word in its style. @param isGlued true if it directly follows a link, so that it can consist of a marker. */
  word(word: string, isGlued = false): StyledWord {
    if (!this.#style.color) return { plain: word, styled: word };
    let plain = '';
    let styled = '';
    // The end of an address may look like a marker, but must be shown.
    const tokens = word.match(
      /`+|https?:\/\/[^\s`<>]*[^\s`<>*_~]|\*\*|~~|[*_]|\\[*_`~[\]]|(?:(?!https?:\/\/)[^`*_~\\])+|[~\\]/g,
    );
    for (const token of tokens ?? []) {
      if (this.#toggles(token, plain === '', isGlued ? `${word} ` : word)) continue;
      const text = /^\\./.test(token) && !this.#code ? token.slice(1) : token;
      plain += text;
      styled += this.#paint(text);
    }
    return { plain, styled };
  }

  #toggles(token: string, atStart: boolean, word: string): boolean {
    if (token.startsWith('`')) {
      this.#code = !this.#code;
      return true;
    }
    if (this.#code || word.length === token.length) return false;
    if (token === '**') {
      this.#bold = !this.#bold;
      return true;
    }
    if (token === '~~') {
      this.#struck = !this.#struck;
      return true;
    }
    // A single marker inside a word is part of it, as in snake_case or 2*3.
    if (token !== '*' && token !== '_') return false;
    const isLast = !/[\p{L}\p{N}]/u.test(word.slice(word.lastIndexOf(token)));
    if (this.#italic ? !isLast : !atStart) return false;
    this.#italic = !this.#italic;
    return true;
  }

  #paint(text: string): string {
    const { bold, italic, cyan, strike } = this.#style;
    if (this.#code) return cyan(text);
    const slanted = this.#italic ? italic(text) : text;
    const strong = this.#bold ? bold(slanted) : slanted;
    return this.#struck ? strike(strong) : strong;
  }
}
