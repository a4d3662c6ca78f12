import { describe, expect, it } from 'vitest';
import { linearPattern } from '../../src/json-schema/linear-pattern.ts';

/** Patterns and texts; the expected results come from the JavaScript engine. */
const patterns: readonly (readonly [pattern: string, texts: readonly string[]])[] = [
  ['^(a+)+$', ['', 'a', 'aaaa', 'aab']],
  ['a$', ['a', 'a\n', 'ab']],
  ['^.$', ['a', '\n', '\r', '\u2028', '💩']],
  ['^\\s+$', [' \t', '\u00a0', '\ufeff', 'x']],
  ['^\\S[\\S]$', ['ab', 'a ', '\u00a0b']],
  ['^[\\s\\S]{1,3}$', ['a b', 'abcd', '']],
  ['^[^]$', ['\n', 'ab']],
  ['[]', ['a', '']],
  ['^[[a]$', ['[', 'a', 'b']],
  ['^[\\]\\-x]$', [']', '-', 'x', 'y']],
  ['^[a\\[]$', ['[', 'a', 'z']],
  ['^💩$', ['💩', 'x']],
  ['^[💩a]$', ['💩', 'a', 'x']],
  ['^[^💩]*$', ['💩', 'ab']],
  ['^\\u{1F4A9}\\uD83D\\uDCA9\\x41\\cA\\/$', ['💩💩A\u0001/', 'A']],
  ['^\\p{L}\\p{Script=Greek}\\P{Letter}$', ['aα1', 'a11']],
  ['^[\\b]$', ['\b', 'b']],
  ['^(?<year>\\d{4})-\\d\\d$', ['2026-11', '26-11']],
  ['^(?!\\.)(?!.*\\.\\.)[a-z.]+@[a-z]+$', ['a.b@c', '.a@b', 'a..b@c']],
  ['^(?=.*[A-Z])(?=.*\\d).{4,}$', ['Abc1', 'abc1', 'A1']],
  ['^a|^(?=b).$', ['a', 'b']],
];

describe('a linear-time matcher [P2]', () => {
  it.each(patterns)('agrees with JavaScript about %s', (pattern, texts) => {
    const matches = linearPattern(pattern);
    const own = new RegExp(pattern, 'u');
    if (pattern.startsWith('^a|')) return expect(matches).toBeUndefined();
    for (const text of texts) expect(matches?.(text), JSON.stringify(text)).toBe(own.test(text));
  });

  it('treats a [ inside a class as a literal', () => {
    // The flag v forbids it and the flag u allows it: the test expects the result of u.
    for (const [pattern, text, matches] of [
      ['^[a[]$', 'z', false],
      ['^[a[]$', '[', true],
      ['^[[^]$', 'z', false],
      ['^[^[]+$', 'abc', true],
      ['^[^[]+$', 'a[c', false],
    ] as const)
      expect(linearPattern(pattern)?.(text), `${pattern} and ${text}`).toBe(matches);
  });

  it('supports patterns that are valid only without the flag u', () => {
    expect(linearPattern('^[\\w-.]+$')?.('a-b.c')).toBe(true);
    expect(linearPattern('^\\-$')?.('-')).toBe(true);
  });

  it.each([
    '(a)\\1',
    '(?<n>a)\\k<n>',
    'a(?=b)',
    '(?<=a)b',
    'x{1,5000}',
    '(.{1,900}){1,900}',
    `(${'x'.repeat(5000)})`,
  ])('does not exist for %s', (pattern) => expect(linearPattern(pattern)).toBeUndefined());

  it('does not exist for a pattern with very many lookaheads', () => {
    expect(linearPattern(`^${'(?=a)'.repeat(700)}a`)).toBeUndefined();
  });
});
