import { describe, expect, test } from 'vitest';
import { clip, flow, head, widthOf, wrap } from '../src/text-width.ts';

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

test('clip marks what it cuts, and never splits a wide character', () => {
  expect(clip('abcdef', 4, '…')).toBe('abc…');
  expect(clip('abc', 3, '…')).toBe('abc');
  expect(clip('日本語', 4, '…')).toBe('日…');
  expect(clip('abcdef', 2, '...')).toBe('..');
});

test('head keeps characters of several code points whole', () => {
  expect(head('👩‍👩‍👧x', 2)).toBe('👩‍👩‍👧');
  expect(head('👩‍👩‍👧x', 1)).toBe('');
});

test('flow puts as many pieces on a line as fit', () => {
  expect(flow(['aa', 'bb', 'cc'], ' · ', 7)).toEqual(['aa · bb', 'cc']);
});

test('wrap breaks at blanks and keeps a long word whole', () => {
  expect(wrap('one two abcdefghij three', 8)).toEqual(['one two', 'abcdefghij', 'three']);
});
