import { withArgumentErrors } from '../values/errors.ts';

/**
 * Characters that are invisible or change how others are displayed: control characters, unassigned code points, line
 * and paragraph separators, bidirectional marks, characters that fonts ignore, and spaces other than the ordinary
 * one. Newline and tab are kept. Of marks on one letter, those after the second cover the text around them.
 */
const unseen =
  /(?![\n\t])[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2800]|(?! )\p{Zs}|(?<=\p{M}\p{M})\p{M}/gu;

/** In a name, signs and marks outside ASCII too, and Latin letters drawn like others. */
const unseenInName =
  /(?![\0-\x7f])[^\p{L}\p{M}\p{N}]|(?<=[a-z]\p{M}?)\p{M}|[\u0131\u01c0-\u01c3\u0237\u0250-\u02af\u1d00-\u1dbf\ua7af-\ua7ff]/giu;

/** Letters of scripts that contain letters drawn like Latin ones. */
const foreign =
  /\p{Script=Cyrillic}|\p{Script=Greek}|\p{Script=Armenian}|\p{Script=Cherokee}|\p{Script=Coptic}|\p{Script=Lisu}/gu;

/** The letters of these scripts that are drawn like Latin letters or digits. */
const twin =
  /[\u0391\u0392\u0395-\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03b1\u03b3\u03b9\u03bd\u03bf\u03c1\u03c5\u03f2\u03f3\u0405\u0406\u0408\u0410\u0412\u0415\u0417\u041a\u041c-\u041e\u0420-\u0423\u0425\u0430\u0433\u0435\u043e\u043f\u0440\u0441\u0443\u0445\u0455\u0456\u0458\u0474\u0475\u04ae\u04af\u04bb\u04c0\u04cf\u0501\u051b-\u051d\u0563\u0570\u0575\u0578\u057d\u0581\u0584\u0585\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}]/u;

/** A number of blanks that moves what follows out of sight. */
const manyBlanks = /[ \t]{80,}/g;

/** Blanks at the end of an added or removed line. A shell continues `\` on the next line, but not `\` and a blank. */
const endBlanks = /(?<![ \t])[ \t]+$(?<=^[+-].*)/gm;

/**
 * Makes every character of a text visible. A character that is invisible, or looks like another one in its word, is
 * escaped, for example as `\u{202e}`. A long run of blanks is escaped with its length.
 * @param use `name` for a command, path, host, title or tool name, where symbols outside ASCII, and words that only look
 * Latin, are escaped too; `diff` for a unified diff, where blanks at the end of a changed line are escaped too.
 * Default: text, such as the content of a file.
 */
export function visibleText(text: string, use?: 'name' | 'diff'): string {
  return withArgumentErrors('visibleText', () => {
    const ended = use === 'diff' ? text.replace(endBlanks, counted) : text;
    if (/^[\n\x20-\x7e]*$/.test(text) && !text.includes(' '.repeat(80))) return ended;
    const shown = ended
      .replace(unseen, escaped)
      .replace(manyBlanks, counted)
      .replace(/[\p{L}\p{M}\p{N}]+/gu, (word) => {
        const isMixed = /[A-Za-z]/.test(word) || (use === 'name' && looksLatin(word));
        return (isMixed ? word.replace(foreign, escaped) : word).replace(/[^\0-\x7f]/gu, withoutStyle);
      });
    return use === 'name' ? shown.replace(unseenInName, escaped) : shown;
  });
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}

/** Returns the runs of one blank with their lengths, such as `\u{20}{90}`. */
function counted(blanks: string): string {
  return blanks.replace(/ +|\t+/g, (run) => `${escaped(run)}{${run.length}}`);
}

function looksLatin(word: string): boolean {
  return Array.from(word).every((letter) => twin.test(letter) || /[\p{M}\p{N}]/u.test(letter));
}

/** Escapes a letter or digit that is an ASCII one in another style, such as a mathematical or a full-width one. */
function withoutStyle(character: string): string {
  return /^[0-9A-Za-z]$/.test(character.normalize('NFKC')) ? escaped(character) : character;
}
