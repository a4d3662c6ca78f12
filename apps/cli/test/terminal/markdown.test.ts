import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MarkdownStream } from '../../src/terminal/markdown.ts';
import { styleFor } from '../../src/terminal/style.ts';
import { widthOf } from '../../src/terminal/text-width.ts';

const colored = styleFor({ color: true, unicode: true, tty: true });
const plain = styleFor({ color: false, unicode: true, tty: true });

function render(
  text: string,
  options: { style?: typeof plain; columns?: number; piece?: number } = {},
): string {
  const { style = plain, columns = 40, piece = text.length || 1 } = options;
  const stream = new MarkdownStream(style, () => columns);
  let shown = '';
  for (let at = 0; at < text.length; at += piece) shown += stream.push(text.slice(at, at + piece));
  return shown + stream.end();
}

const sample = [
  '# Result',
  '',
  'Some **bold text** and `code here` and *slanted* words that make a long line of their own.',
  '',
  '',
  '- first item that is long enough to be broken into two lines',
  '  1. nested',
  '',
  '```js',
  'const snake_case = a * b * c; // a line of code that is longer than the terminal is wide',
  '',
  '```',
  '| a | b |',
  '|---|---|',
  '| one | `two` |',
  '',
  'End.',
].join('\n');

describe('MarkdownStream', () => {
  test('shows a document the same way for any chunks', () => {
    for (const style of [plain, colored]) {
      const whole = render(sample, { style });
      for (const piece of [1, 2, 3, 7, 40]) expect(render(sample, { style, piece })).toBe(whole);
    }
  });

  test('shows any text the same way for any chunks', () => {
    const marks = [
      '**',
      '*',
      '`',
      '```',
      '```js\n',
      '|',
      '- ',
      '#',
      '_',
      '~~',
      '[',
      '](',
      '(',
      ')',
      '!',
      ' "',
      '\\',
    ];
    const parts = ['a', 'bc', ' ', '\n', '日', '[ ]', '[x]', '[a b](http://c)', 'http://h_', '- [', ...marks];
    const text = fc
      .array(fc.constantFrom(...parts), {
        maxLength: 60,
        size: 'max',
      })
      .map((some) => some.join(''));
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 5 }), (given, piece) => {
        expect(render(given, { style: colored, columns: 12, piece })).toBe(
          render(given, { style: colored, columns: 12 }),
        );
      }),
      { numRuns: 500 },
    );
  });

  test('breaks lines at spaces within the width, but never breaks code', () => {
    const lines = stripVTControlCharacters(render(sample, { style: colored })).split('\n');
    const code = lines.filter((line) => line.startsWith('const'));
    expect(code).toEqual([
      'const snake_case = a * b * c; // a line of code that is longer than the terminal is wide',
    ]);
    for (const line of lines) if (!line.startsWith('const')) expect(widthOf(line)).toBeLessThan(40);
  });

  test('indents the continuation lines of a list item', () => {
    expect(render('- first item that is long enough to be broken', { columns: 24 })).toBe(
      '- first item that is\n  long enough to be\n  broken\n',
    );
  });

  test('with color, replaces markup with styles', () => {
    const shown = render('**bold** and `code` and snake_case and 2*3*4 and \\*not\\*', {
      style: colored,
      columns: 90,
    });
    expect(shown).toBe('\x1b[1mbold\x1b[22m and \x1b[36mcode\x1b[39m and snake_case and 2*3*4 and *not*\n');
  });

  test('without color, keeps the markup', () => {
    expect(render('**bold** `code`\n\n# Head\n\n- x')).toBe('**bold** `code`\n\n# Head\n\n- x\n');
  });

  test('ends emphasis at the end of a line', () => {
    expect(render('**open\nnext', { style: colored })).toBe('\x1b[1mopen\x1b[22m\nnext\n');
  });

  test('shows a table in columns when it is complete', () => {
    const stream = new MarkdownStream(plain, () => 40);
    expect(stream.push('| a | b |\n|---|---|\n| long cell | 2 |\n')).toBe('');
    expect(stream.push('after ')).toBe('a          b\n---------  ---\nlong cell  2\nafter');
  });

  test('breaks the cells of a table that is too wide, with a rule between its rows', () => {
    const table = '| a | b |\n|---|---|\n| a very long cell indeed | 日本語日本語日本語 |\n| 1 | 2 |\n';
    expect(render(table, { columns: 26 })).toBe(
      [
        'a            b',
        '-----------  ------------',
        'a very long  日本語日本語',
        'cell indeed  日本語',
        '-----------  ------------',
        '1            2',
        '',
      ].join('\n'),
    );
  });

  test('shows a table unchanged if there is no room for its columns', () => {
    const table = `${'| abc '.repeat(9)}|\n${'|---'.repeat(9)}|\n`;
    expect(render(table, { columns: 40 })).toBe(table);
  });

  test('aligns the columns of a table, without the marks in its cells', () => {
    const table =
      '| left | mid | right |\n|:--|:-:|--:|\n| `a\\|b` | **x** | 7 |\n| d (http://e) | ~~y~~z | 10 |\n';
    const shown = render(table, { style: colored });
    expect(stripVTControlCharacters(shown)).toBe(
      [
        'left          mid  right',
        '────────────  ───  ─────',
        'a|b            x       7',
        'd (http://e)  yz      10',
        '',
      ].join('\n'),
    );
  });

  test('with color, shows the text of a link and its address, which nothing changes', () => {
    const given = 'See **[the docs](https://a.example/x_(y)_*z*)**, ![img](b_c_.png) and `[a](b)`.';
    expect(render(given, { style: colored, columns: 99 })).toBe(
      'See \x1b[1m[the\x1b[22m \x1b[1mdocs\x1b[22m]\x1b[2m(https://a.example/x_(y)_*z*)\x1b[22m, ' +
        '![img]\x1b[2m(b_c_.png)\x1b[22m and \x1b[36m[a\x1b[39m\x1b[36m](b)\x1b[39m.\n',
    );
  });

  test('keeps the marks in a bare address', () => {
    expect(render('**https://a.example/b_c*d_e** f', { style: colored })).toBe(
      '\x1b[1mhttps://a.example/b_c*d_e\x1b[22m f\n',
    );
  });

  test('with color, shows struck text and the boxes of tasks', () => {
    const given = '~~old text~~ a~b\n- [x] done\n  - [ ] open\n- [y] no\n';
    expect(render(given, { style: colored })).toBe(
      '\x1b[9mold\x1b[29m \x1b[9mtext\x1b[29m a~b\n\x1b[36m[x]\x1b[39m done\n  \x1b[36m[ ]\x1b[39m open\n' +
        '\x1b[36m•\x1b[39m [y] no\n',
    );
    expect(render('- [x] done')).toBe('- [x] done\n');
  });

  test('does not move a deep list out of a narrow terminal', () => {
    expect(render(`${' '.repeat(30)}- some words here`, { columns: 20 })).toBe(
      '          - some\n            words\n            here\n',
    );
  });

  test('with color, shows code in the colors of its language, also across lines', () => {
    const code = '```ts\n/* one\ntwo */ const a = "b";\n```\n```unknown\nx\n```\n';
    const shown = render(code, { style: colored });
    expect(shown).toBe(
      '\x1b[2m/* one\x1b[22m\n\x1b[2mtwo */\x1b[22m \x1b[35mconst\x1b[39m a = \x1b[33m"b"\x1b[39m;\n\x1b[36mx\x1b[39m\n',
    );
    expect(render(code, { style: colored, piece: 1 })).toBe(shown);
    expect(render(code)).toBe(code);
  });

  test('merges blank lines and removes them at the end', () => {
    expect(render('a\n\n\n\nb\n\n\n')).toBe('a\n\nb\n');
  });

  test('shows each word when it is complete', () => {
    const stream = new MarkdownStream(plain, () => 40);
    expect(stream.push('Hel')).toBe('');
    expect(stream.push('lo wor')).toBe('Hello');
    expect(stream.push('ld')).toBe('');
    expect(stream.end()).toBe(' world\n');
  });

  test('breaks a word that is too long, but never inside a wide character', () => {
    expect(render('日本語日本語日本語', { columns: 10 })).toBe('日本語日\n本語日本\n語\n');
    expect(render('abcdefghijkl', { columns: 10 })).toBe('abcdefghi\njkl\n');
  });

  test('shows text without spaces while it streams', () => {
    const stream = new MarkdownStream(plain, () => 12);
    expect(stream.push('x abcdefghijklm')).toBe('x\nabcdefghijk');
    expect(new MarkdownStream(plain, () => 12).push('日本語日本語日本語')).toBe('日本語日本\n語日本語');
  });

  test('ends an unclosed code fence at the end of the response', () => {
    expect(render('```\ncode', { style: colored })).toBe('\x1b[36mcode\x1b[39m\n');
  });

  test('shows nothing for empty input', () => {
    expect(render('')).toBe('');
    expect(render('\n\n')).toBe('');
  });
});
