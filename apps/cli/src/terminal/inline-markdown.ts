import type { Style } from './style.ts';

/** A word as it is measured and as it is written. */
export interface StyledWord {
  readonly plain: string;
  readonly styled: string;
}

/** The address of a link, which is shown after its text; a bare address; a marker; an escaped one; other text. */
const token =
  /\]\((?:[^\s()`]|\([^\s()`]*\))*\)|https?:\/\/[^\s`<>]*[^\s`<>*_~]|`+|\*\*|~~|[*_]|\\[*_`~]|(?:(?!https?:\/\/|\]\()[^`*_~\\])+|[\s\S]/g;

/**
 * Styles emphasis, code, strikethrough and addresses. A style may span words but not lines. Without colors the markers
 * remain, because they then carry the meaning.
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

  word(word: string): StyledWord {
    if (!this.#style.color) return { plain: word, styled: word };
    let plain = '';
    let styled = '';
    for (const part of word.match(token) ?? []) {
      if (this.#toggles(part, plain === '', word)) continue;
      const text = /^\\./.test(part) && !this.#code ? part.slice(1) : part;
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
    if (token === '**') this.#bold = !this.#bold;
    if (token === '~~') this.#struck = !this.#struck;
    if (token === '**' || token === '~~') return true;
    // A single marker inside a word is part of it, as in snake_case or 2*3.
    if (token !== '*' && token !== '_') return false;
    const isLast = !/[\p{L}\p{N}]/u.test(word.slice(word.lastIndexOf(token)));
    if (this.#italic ? !isLast : !atStart) return false;
    this.#italic = !this.#italic;
    return true;
  }

  #paint(text: string): string {
    const { bold, dim, italic, cyan, strike } = this.#style;
    if (this.#code) return cyan(text);
    if (text.startsWith('](')) return `]${dim(text.slice(1))}`;
    const slanted = this.#italic ? italic(text) : text;
    const strong = this.#bold ? bold(slanted) : slanted;
    return this.#struck ? strike(strong) : strong;
  }
}
