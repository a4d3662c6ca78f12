import { createRequire } from 'node:module';
import { extname } from 'node:path';
import type { Token } from './highlighter.ts';
import type { Clock } from './io.ts';
import type { Style } from './style.ts';

/** Longer lines have no colors: they are rarely read, and reading them for colors would take long. */
const maxLineLength = 1000;

/** Maximum length of the lines before a line that are read again for its colors, such as those of a comment. */
const maxCarried = 4000;

type Highlighter = typeof import('./highlighter.ts');

let loaded: Highlighter | undefined;

/** Loads the highlighter when it is first needed: it is large, and most commands show no code. */
function highlighter(): Highlighter {
  loaded ??= createRequire(import.meta.url)(`./highlighter${extname(import.meta.url)}`) as Highlighter;
  return loaded;
}

/** Languages that code is likely to have. The first code of each takes longer than a key may wait for its echo. */
const unprepared = ['ts', 'js', 'python', 'bash', 'json', 'css', 'html', 'go', 'rust', 'java', 'cpp'];

const sample = '/* a */ export function f(x: string) { return `a` + "b" + 1; } // c\n';

/** Pause between two preparations, so that a key waits for at most one of them, in milliseconds. */
const pauseMs = 50;

/**
 * Loads the highlighter at once, and then prepares the likely languages one by one while `isIdle`, so that the first code
 * of a response delays no key. Returns a function that ends this.
 */
export function prepareColors(clock: Clock, isIdle: () => boolean): () => void {
  const next = () => {
    const language = isIdle() ? unprepared.shift() : '';
    if (language === undefined) return;
    if (language !== '') highlighter().highlight(sample, language);
    stop = clock.after(pauseMs, next);
  };
  let stop = clock.after(0, () => {
    highlighter();
    stop = clock.after(pauseMs, next);
  });
  return () => stop();
}

/** Finds the tokens of code line by line, because the lines that are on the screen are never written again. */
export class CodeLines {
  readonly #language: string;
  /** The lines since the last one after which nothing was open. */
  #carried = '';

  private constructor(language: string) {
    this.#language = language;
  }

  /** Returns the reader of a language, by its name or the extension of its files; undefined if it is not known. */
  static of(language: string | undefined, style: Style): CodeLines | undefined {
    if (!style.color || language === undefined || !highlighter().isKnown(language)) return undefined;
    return new CodeLines(language);
  }

  /** Returns the tokens of the next line. Together, they are exactly the line. */
  next(line: string): readonly Token[] {
    const from = this.#carried.length;
    const code = `${this.#carried}${line}\n`;
    this.#carried = '';
    if (line.length > maxLineLength) return [{ text: line }];
    const { tokens, isInside } = highlighter().highlight(code, this.#language);
    if (isInside && code.length <= maxCarried) this.#carried = code;
    const own = tokensBetween(tokens, from, code.length - 1);
    return own.map(({ text }) => text).join('') === line ? own : [{ text: line }];
  }
}

/** Returns the parts of tokens between two positions of their text. */
export function tokensBetween<T extends Token>(tokens: readonly T[], from: number, to: number): T[] {
  let at = 0;
  return tokens.flatMap((token) => {
    const text = token.text.slice(Math.max(0, from - at), Math.max(0, to - at));
    at += token.text.length;
    return text === '' ? [] : [{ ...token, text }];
  });
}

/** Returns tokens in their colors. What has no color of its own is painted by `otherwise`. */
export function paintTokens(
  tokens: readonly Token[],
  style: Style,
  otherwise: (text: string) => string = (text) => text,
): string {
  const paint = ({ text, kind }: Token) => {
    if (kind === undefined) return otherwise(text);
    return kind === 'comment' ? style.dim(otherwise(text)) : style.code[kind](text);
  };
  return tokens.map(paint).join('');
}
