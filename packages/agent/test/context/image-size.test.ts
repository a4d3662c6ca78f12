import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { imageSize } from '../../src/context/file-tokens.ts';
import { gif, jpeg, png, webp } from '../support/images.ts';

describe('imageSize', () => {
  const width = 4032;
  const height = 3024;

  it.each([
    ['PNG', png(width, height)],
    ['GIF', gif(width, height)],
    ['JPEG', jpeg(width, height)],
    ['JPEG with long camera metadata before its frame', jpeg(width, height, 60_000)],
    ['lossy WebP', webp('VP8 ', width, height)],
    ['lossless WebP', webp('VP8L', width, height)],
    ['extended WebP', webp('VP8X', width, height)],
  ])('reads the size from a %s', (_, data) => {
    expect(imageSize(data)).toEqual({ width, height });
  });

  it('does not mistake a JPEG table for a frame', () => {
    expect(imageSize(jpeg(17, 19, 300))).toEqual({ width: 17, height: 19 });
  });

  it('returns undefined for truncated, empty or other data', () => {
    for (const whole of [png(9, 9), gif(9, 9), jpeg(9, 9), webp('VP8X', 9, 9)]) {
      expect(imageSize(whole.slice(0, 12))).toBeUndefined();
    }
    for (const data of ['', 'AAAA', '§§§§', png(0, 9), btoa('RIFF1234WEBPVP9 '.padEnd(40, 'x'))]) {
      expect(imageSize(data)).toBeUndefined();
    }
  });

  it('never throws or hangs, whatever the bytes', () => {
    const begin = fc.constantFrom('', '\xff\xd8', '\x89PNG\r\n\x1a\n', 'GIF89a', 'RIFF0000WEBPVP8 ');
    const bytes = fc.uint8Array({ maxLength: 200 });
    fc.assert(
      fc.property(begin, bytes, (head, rest) => {
        imageSize(btoa(head + String.fromCharCode(...rest)));
      }),
    );
  });
});
