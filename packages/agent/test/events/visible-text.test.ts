import { describe, expect, it } from 'vitest';
import { visibleText } from '../../src/events/visible-text.ts';

describe('text made visible [P21]', () => {
  it.each([
    ['a Cyrillic letter in a Latin word', 'p\u0430ypal', 'p\\u{430}ypal'],
    ['a Greek letter in a Latin word', 'g\u03bfogle', 'g\\u{3bf}ogle'],
    ['a mathematical letter', '\u{1d42b}m x', '\\u{1d42b}m x'],
    ['a full-width letter and digit', '\uff41\uff11', '\\u{ff41}\\u{ff11}'],
    ['a Roman numeral and the Kelvin sign', '\u217cs \u212a', '\\u{217c}s \\u{212a}'],
    ['marks that cover their surroundings', 'a\u0301\u0302\u0303\u0304', 'a\u0301\u0302\\u{303}\\u{304}'],
    ['blanks that move text out of sight', `a${' '.repeat(90)}b`, 'a\\u{20}{90}b'],
    ['blanks of two kinds', `a${' '.repeat(60)}\t${' '.repeat(60)}b`, 'a\\u{20}{60}\\u{9}{1}\\u{20}{60}b'],
    [
      'words of one script',
      'привет, о мир: Größe, λόγος, 使用React、ｅ',
      'привет, о мир: Größe, λόγος, 使用React、\\u{ff45}',
    ],
    ['signs in text', '“a” – b… ½ ™ 🧵', '“a” – b… ½ ™ 🧵'],
  ])('escapes or keeps %s', (_what, text, shown) => {
    expect(visibleText(text)).toBe(shown);
  });

  it.each([
    ['a word that looks Latin', '\u0441\u043e\u0440\u0443 a b', '\\u{441}\\u{43e}\\u{440}\\u{443} a b'],
    ['quotes that are none', '\u2018a; rm b\u2019', '\\u{2018}a; rm b\\u{2019}'],
    ['signs like /, -, ; and |', 'a\u2215b \u2010x\u037e \u01c0', 'a\\u{2215}b \\u{2010}x\\u{37e} \\u{1c0}'],
    ['marks on a letter', 'e\u0301\u0302', 'e\\u{301}\\u{302}'],
    ['Latin letters like others', 'lın\u0261', 'l\\u{131}n\\u{261}'],
    ['a word of another script', 'привет é 日本', 'привет é 日本'],
    ['many blanks', `a${' '.repeat(90)}b`, 'a\\u{20}{90}b'],
  ])('in a name, escapes or keeps %s', (_what, text, shown) => {
    expect(visibleText(text, 'name')).toBe(shown);
  });

  it('in a diff, escapes blanks at the end of changed lines, such as those after a backslash', () => {
    const diff = '@@ -1,2 +1,2 @@\n a \n-b\t\n+rm -rf x \\ \n+  c\n \n';
    expect(visibleText(diff, 'diff')).toBe(
      '@@ -1,2 +1,2 @@\n a \n-b\\u{9}{1}\n+rm -rf x \\\\u{20}{1}\n+  c\n \n',
    );
    expect(visibleText(diff)).toBe(diff);
  });
});
