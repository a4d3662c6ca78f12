import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { clip, flow, head, widthOf, wrap } from '../../src/terminal/text-width.ts';

describe('widthOf', () => {
  test.each([
    ['abc', 3],
    ['', 0],
    ['日本語', 6],
    ['é', 1],
    ['e\u0301', 1],
    ['👍🏽', 2],
    ['👩‍👩‍👧', 2],
    ['🇨🇭', 2],
    ['✓', 1],
    ['⠋', 1],
    ['…', 1],
    ['\u200b', 0],
  ])('%j takes %i cells', (text, width) => {
    expect(widthOf(text)).toBe(width);
  });
});

test('widthOf returns the same width with and without the Unicode tables', () => {
  const marks = 'a~¡¬®éɏ–…•■✓✗⠀⣿·—';
  for (const mark of marks) expect([mark, widthOf(mark), widthOf(`${mark}日`) - 2]).toEqual([mark, 1, 1]);
  const rest = '\n日';
  const restWidth = widthOf(rest);
  const codes = Array.from({ length: 0x2900 - 0x20 }, (_, index) => index + 0x20);
  const different = codes.filter((code) => {
    const letter = String.fromCharCode(code);
    return widthOf(letter) !== widthOf(letter + rest) - restWidth;
  });
  expect(different).toEqual([]);
});

test('common text is measured without the Unicode tables, whose loading would double the start time', async () => {
  const segmenter = vi.spyOn(Intl, 'Segmenter');
  onTestFinished(() => segmenter.mockRestore());
  // The query makes it another module than the one that other tests have used.
  const url = new URL('../../src/terminal/text-width.ts?fresh', import.meta.url).href;
  const fresh: typeof import('../../src/terminal/text-width.ts') = await import(url);
  expect(fresh.flow(['cobbler', 'claude', '~/Übung'], ' · ', 80)).toEqual(['cobbler · claude · ~/Übung']);
  expect(segmenter).not.toHaveBeenCalled();
  expect(fresh.widthOf('日')).toBe(2);
  expect(segmenter).toHaveBeenCalledTimes(1);
});

test('clip marks what it cuts and never splits a wide character', () => {
  expect(clip('abcdef', 4, '…')).toBe('abc…');
  expect(clip('abc', 3, '…')).toBe('abc');
  expect(clip('日本語', 4, '…')).toBe('日…');
  expect(clip('abcdef', 2, '...')).toBe('..');
});

test('head does not split a character of several code points', () => {
  expect(head('👩‍👩‍👧x', 2)).toBe('👩‍👩‍👧');
  expect(head('👩‍👩‍👧x', 1)).toBe('');
});

test('flow puts as many items on a line as fit', () => {
  expect(flow(['aa', 'bb', 'cc'], ' · ', 7)).toEqual(['aa · bb', 'cc']);
});

test('wrap breaks at spaces and does not break a long word', () => {
  expect(wrap('one two abcdefghij three', 8)).toEqual(['one two', 'abcdefghij', 'three']);
});
