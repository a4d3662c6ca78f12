import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { styleFor } from '../../src/terminal/style.ts';
import { changedWords } from '../../src/view/changed-words.ts';
import { diffLines, wholeDiffLines } from '../../src/view/diff-lines.ts';

const screen = { color: true, unicode: true, tty: true };
const colored = styleFor(screen);
const plain = styleFor({ ...screen, color: false });

/** Makes what the colors say visible: `_` around changed words, and the kind of each token. */
function told(line: string | undefined): string {
  const names = { '4;1': '_', 35: 'key:', 36: 'name:', 33: 'value:', 32: '', 31: '', 2: '' } as const;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colors.
  const code = /\x1b\[(\d+)m/g;
  return (line ?? '')
    .replaceAll('\x1b[4m\x1b[1m', '_')
    .replaceAll('\x1b[22m\x1b[24m', '_')
    .replaceAll(code, (_, color: keyof typeof names) => names[color] ?? '');
}

test('a diff has the colors of the language of its file, and marks the words that changed', () => {
  const diff =
    '--- a/x.ts\n+++ b/x.ts\n@@ -1,4 +1,4 @@\n /* a\n-b */ const a = 1;\n-let gone;\n+b */ const a = 23;\n+f(); // quite other\n end\n';
  expect(diffLines(diff, colored, 60).map(told)).toEqual([
    '1   /* a',
    '2 - b */ key:const a = _value:1_;',
    '3 - key:let gone;',
    '2 + b */ key:const a = _value:23_;',
    '3 + name:f(); // quite other',
    '4   end',
  ]);
  expect(diffLines(diff.replaceAll('x.ts', 'x.unknown'), colored, 60).map(told)[1]).toBe(
    '2 - b */ const a = _1_;',
  );
  expect(diffLines(diff, plain, 60)[1]).toBe('2 - b */ const a = 1;');
});

test('marks continue where a line is broken', () => {
  const diff = `@@ -1 +1 @@\n-abcdefghij one abcdefghij\n+abcdefghij two three four abcdefghij\n`;
  expect(diffLines(diff, colored, 18).map(told)).toEqual([
    '1 - abcdefghij _one_',
    '     abcdefghij',
    '1 + abcdefghij _two_',
    '    _ three four_ ab',
    '    cdefghij',
  ]);
});

test.each([
  ['const a = 1;', 'const b = 1;', [6, 7], [6, 7]],
  ['a b c d e f', 'a x y d e f', [2, 5], [2, 5]],
  ['call(one)', 'call(one, two)', [8, 8], [8, 13]],
  ['日本語 a b', '日本語 a c', [6, 7], [6, 7]],
  ['aa aa', 'aa aa aa', [5, 5], [5, 8]],
])('the changed part of %j and %j', (before, after, old, fresh) => {
  expect(changedWords(before, after)).toEqual([old, fresh]);
});

test('lines with little in common have no changed part', () => {
  expect(changedWords('entirely this', 'something other')).toBeUndefined();
});

test('colors change no character of a diff', () => {
  const text = fc.array(
    fc.constantFrom(
      'a',
      'const ',
      '"',
      '/*',
      '*/',
      '`',
      '${',
      '}',
      '&lt;',
      '<b>',
      '\t',
      '  ',
      '\x1b[2J',
      '\u202e',
      '日',
      '#',
      '\\',
    ),
    { maxLength: 12 },
  );
  const line = fc.tuple(fc.constantFrom('+', '-', ' '), text).map(([sign, parts]) => sign + parts.join(''));
  const file = fc.constantFrom(
    'x.ts',
    'x.py',
    'x.html',
    'x.css',
    'x.sh',
    'x.md',
    'x.php',
    'x.rs',
    'x.sql',
    'x',
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 12 }), file, (lines, path) => {
      const diff = `--- a/${path}\n+++ b/${path}\n@@ -1,9 +1,9 @@\n${lines.join('\n')}\n`;
      for (const show of [diffLines, wholeDiffLines]) {
        const shown = show(diff, colored, 24);
        expect(shown.map(stripVTControlCharacters)).toEqual(show(diff, plain, 24));
        // biome-ignore lint/suspicious/noControlCharactersInRegex: our own colors are the only sequences.
        expect(shown.join('').replaceAll(/\x1b\[\d+m/g, '')).not.toContain('\x1b');
      }
    }),
    { numRuns: 60 },
  );
});
