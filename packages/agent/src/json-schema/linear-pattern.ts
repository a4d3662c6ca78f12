import { RE2JS } from 're2js';

/** Returns whether the pattern matches anywhere in the text. */
export type Matches = (text: string) => boolean;

/** Maximum length of a pattern and maximum number of steps per character. Beyond them, a match would be too slow. */
const maxCharacters = 4000;
const maxSteps = 10_000;

const maxConditions = 16;

/**
 * Converts a pattern of a schema to a matcher that takes linear time, whatever the pattern. Lookahead is supported at
 * the start, where it is an additional condition: `^(?!\.)(?=.*\d)…`.
 * @returns undefined for patterns that such a matcher does not support: backreferences, other lookarounds, very many
 * repetitions.
 */
export function linearPattern(source: string): Matches | undefined {
  try {
    if (source.length > maxCharacters) return undefined;
    const { rest, conditions } = leadingConditions(source);
    const all = [...conditions, { body: rest, isWanted: true }].map(({ body, isWanted }) => ({
      re: compilePattern(body),
      isWanted,
    }));
    return (text) => all.every((one) => one.re.test(text) === one.isWanted);
  } catch {
    return undefined;
  }
}

function compilePattern(source: string): RE2JS {
  const re = RE2JS.compile(translatePattern(source));
  if (re.programSize() > maxSteps) throw new Error('too many repetitions');
  return re;
}

interface Condition {
  readonly body: string;
  readonly isWanted: boolean;
}

/** Splits off leading lookaheads: `^(?=a)(?!b)c` is `^c` where `^(?:a)` matches and `^(?:b)` does not. */
function leadingConditions(source: string): { rest: string; conditions: Condition[] } {
  const conditions: Condition[] = [];
  let rest = source;
  while (/^\^\(\?[=!]/.test(rest) && !hasAlternatives(rest)) {
    const end = endOfGroup(rest);
    conditions.push({ body: `^(?:${rest.slice(4, end)})`, isWanted: rest[3] === '=' });
    rest = `^${rest.slice(end + 1)}`;
    if (conditions.length > maxConditions) throw new Error('too many conditions');
  }
  return { rest, conditions };
}

/** Returns whether a `|` is outside of all groups. */
function hasAlternatives(source: string): boolean {
  return [...tokensOf(source)].some(({ text, inClass, depth }) => !inClass && depth === 0 && text === '|');
}

/** Returns the position of the parenthesis that closes the group after `^`. */
function endOfGroup(source: string): number {
  for (const { at, depth } of tokensOf(source)) if (at > 0 && depth === 0) return at;
  throw new Error('an unclosed group');
}

interface Token {
  readonly text: string;
  readonly at: number;
  /** Between `[` and `]`, the latter included. */
  readonly inClass: boolean;
  /** Number of groups that are open after it. */
  readonly depth: number;
}

/** Splits a pattern into tokens: an escape is one token, and so is every other character. */
function* tokensOf(source: string): Generator<Token> {
  const token =
    /\\(?:u\{[0-9a-fA-F]+\}|u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|[pP]\{[^}]*\}|[\s\S])|[\s\S]/uy;
  let inClass = false;
  let depth = 0;
  for (let at = 0; at < source.length; at = token.lastIndex) {
    token.lastIndex = at;
    const text = token.exec(source)?.[0] ?? '';
    if (text === '') throw new Error('an incomplete escape');
    if (!inClass && text === '(') depth += 1;
    if (!inClass && text === ')') depth -= 1;
    yield { text, at, inClass, depth };
    inClass = inClass ? text !== ']' : text === '[';
  }
}

/** The characters that `\s` matches in JavaScript, as the content of a class; RE2 matches only six of them. */
const blank = String.raw`\t-\r\p{Z}\x{feff}`;
const notBlank = String.raw`\x{0}-\x{8}\x{e}-\x{1f}!-\x{9f}\x{a1}-\x{167f}\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e}\x{2060}-\x{2fff}\x{3001}-\x{fefe}\x{ff00}-\x{10ffff}`;

/** Translates what RE2 would understand differently. The library's own translation does the rest. */
function translatePattern(source: string): string {
  const tokens = [...tokensOf(source)];
  const parts = tokens.map(({ text, inClass }, index) => {
    if (text.startsWith('\\')) return escaped(text, inClass);
    if (!inClass) return text === '.' ? String.raw`[^\n\r\x{2028}\x{2029}]` : text;
    const isBesideSet = isSet(tokens[index - 1]?.text) || isSet(tokens[index + 1]?.text);
    return text === '[' || (text === '-' && isBesideSet) ? `\\${text}` : text;
  });
  return RE2JS.translateRegExp(parts.join(''));
}

function isSet(text: string | undefined): boolean {
  return text !== undefined && /^\\[dDwWsSpP]/.test(text);
}

function escaped(text: string, inClass: boolean): string {
  const letter = text.slice(1, 2);
  if (letter === 's') return inClass ? blank : `[${blank}]`;
  if (letter === 'S') return inClass ? notBlank : `[${notBlank}]`;
  if (letter === 'b' && inClass) return '\\x{8}';
  if (letter === '0') return '\\x{0}';
  if (/[1-9k]/.test(letter)) throw new Error('a back reference');
  if (/[pP]/.test(letter)) return property(text);
  // Two escapes can represent one character: `\\uD83D\\uDCA9`.
  if (text.lastIndexOf('\\u') > 0) return String(JSON.parse(`"${text}"`));
  // A letter without a meaning is a literal, as in patterns without the `u` flag.
  return text.length === 2 && /[^dDwWbBtnrfv!-/:-@[-`{-~]/.test(letter) ? letter : text;
}

const longNames: Readonly<Record<string, string>> = {
  Letter: 'L',
  Lowercase_Letter: 'Ll',
  Uppercase_Letter: 'Lu',
  Mark: 'M',
  Number: 'N',
  Decimal_Number: 'Nd',
  digit: 'Nd',
  Punctuation: 'P',
  punct: 'P',
  Separator: 'Z',
  Symbol: 'S',
};

function property(text: string): string {
  const name = text.slice(3, -1).replace(/^(?:Script|sc|General_Category|gc)=/, '');
  return `${text.slice(0, 3)}${longNames[name] ?? name}}`;
}
