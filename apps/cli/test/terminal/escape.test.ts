import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { VisibleStream, visible, visibleJson } from '../../src/terminal/escape.ts';
import { oneLine } from '../../src/terminal/one-line.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: the test matches forbidden characters.
const dangerous = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

/** Random texts with many control characters, and with halves of characters. */
const anyText = fc
  .array(fc.oneof(fc.nat(0xff), fc.nat(0xffff), fc.nat(0x10ffff)))
  .map((codes) => String.fromCodePoint(...codes));

describe('visible', () => {
  test('escapes a control sequence as readable text [P21, P22]', () => {
    expect(visible('\x1b[2J')).toBe('\\x1b[2J');
    expect(visible('\x1b]0;title\x07')).toBe('\\x1b]0;title\\x07');
    expect(visible('\x1b]52;c;aGk=\x1b\\')).toBe('\\x1b]52;c;aGk=\\x1b\\');
    expect(visible('\x9b2J')).toBe('\\x9b2J');
  });

  test('escapes marks that change the text direction [P21]', () => {
    expect(visible('a\u202eb\u2066c')).toBe('a\\u202eb\\u2066c');
  });

  test('escapes every character of the dangerous ranges [P21]', () => {
    const ranges = [
      [0x00, 0x08],
      [0x0b, 0x1f],
      [0x7f, 0x9f],
      [0x200e, 0x200f],
      [0x2028, 0x202e],
      [0x2066, 0x2069],
    ] as const;
    for (const [first, last] of ranges) {
      for (let code = first; code <= last; code += 1) {
        expect(visible(String.fromCharCode(code))).toMatch(/^\\[xu][0-9a-f]{2,4}$/);
      }
    }
  });

  test('keeps newlines and tabs, and removes a carriage return only before a newline', () => {
    expect(visible('a\tb\nc')).toBe('a\tb\nc');
    expect(visible('a\r\nb\rc')).toBe('a\nb\\x0dc');
  });

  test('replaces a lone surrogate', () => {
    expect(visible('a\ud800b')).toBe('a\ufffdb');
  });

  test('leaves no control character in any text [P21]', () => {
    fc.assert(fc.property(anyText, (text) => !dangerous.test(visible(text))));
  });
});

describe('VisibleStream', () => {
  test('returns the same text for any chunks', () => {
    fc.assert(
      fc.property(anyText, fc.array(fc.nat(40)), (text, cuts) => {
        const stream = new VisibleStream();
        let shown = '';
        let from = 0;
        for (const cut of cuts) {
          shown += stream.push(text.slice(from, from + cut));
          from += cut;
        }
        shown += stream.push(text.slice(from)) + stream.end();
        expect(shown).toBe(visible(text));
      }),
    );
  });
});

test('oneLine escapes line breaks', () => {
  expect(oneLine(' a\nb\tc ')).toBe('a\\nb c');
});

test('visibleJson keeps the JSON value and contains no control character [P21]', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const line = visibleJson(JSON.stringify({ text }));
      expect(JSON.parse(line)).toEqual({ text });
      expect(dangerous.test(line)).toBe(false);
    }),
  );
});
