import { describe, expect, it, test } from 'vitest';
import { inputBound } from '../../src/context/context.ts';
import { maxFileTokens, roughFileTokens } from '../../src/context/file-tokens.ts';
import { emptyState } from '../../src/events/state.ts';
import type { FilePart } from '../../src/values/message.ts';
import { png } from '../support/images.ts';

/** Returns an image with a given file size, which must not affect its token count. */
const picture = (width: number, height: number, bytes = 900_000): FilePart => ({
  type: 'file',
  mediaType: 'image/png',
  data: png(width, height) + 'A'.repeat(Math.ceil(bytes / 3) * 4),
});

const pdf = (pages: number, bytes = 0): FilePart => {
  const objects = Array.from(
    { length: pages },
    (_, n) => `${n + 3} 0 obj<</Type /Page /Parent 2 0 R>>endobj`,
  );
  const text = `%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages>>endobj ${objects.join('\n')}`;
  return { type: 'file', mediaType: 'application/pdf', data: btoa(text.padEnd(bytes, ' ')) };
};

/**
 * Width, height, and the counted tokens: measured for the latest Claude and for GPT-6 with its
 * defaults, documented for GPT-4.1 nano and GPT-4o.
 */
const counted: readonly (readonly [width: number, height: number, ...tokens: number[]])[] = [
  [1, 1, 2, 255],
  [256, 256, 177, 77, 158, 255],
  [512, 512, 438, 308, 630, 255],
  [513, 513, 438, 347, 711, 765],
  [1024, 1024, 1446, 1229, 2520, 765],
  [1920, 1080, 2768, 2448, 3779, 1105],
  [3840, 2160, 3069, 9792, 3779, 1105],
  [4032, 3024, 4005, 14_364, 3779, 765],
];

test.each([
  // Ten seconds of speech at 16 kHz, and at 64 kbit/s.
  ['audio/wav', 320_000],
  ['audio/mpeg', 80_000],
])('ten seconds of %s count at least as many tokens as services count', (mediaType, bytes) => {
  const file = { type: 'file', mediaType, data: 'A'.repeat((bytes / 3) * 4) } as const;
  expect(roughFileTokens(file)).toBeGreaterThanOrEqual(100);
  expect(maxFileTokens(file)).toBeGreaterThanOrEqual(320);
});

describe('the tokens of an image', () => {
  it.each(counted)(
    'of %i x %i pixels are never above the bound, nor far below it',
    (width, height, ...tokens) => {
      const most = maxFileTokens(picture(width, height));
      expect(most).toBeGreaterThanOrEqual(Math.max(...tokens));
      expect(most).toBeLessThanOrEqual(2 * Math.max(...tokens) + 300);
    },
  );

  it('do not depend on its bytes', () => {
    expect(maxFileTokens(picture(1024, 1024, 100))).toBe(maxFileTokens(picture(1024, 1024, 5_000_000)));
  });

  it('have a maximum if the image is extremely large or its size is unreadable', () => {
    expect(maxFileTokens(picture(2 ** 31, 2 ** 31))).toBe(90_000);
    expect(maxFileTokens({ type: 'file', mediaType: 'image/png', data: 'AAAA' })).toBe(15_000);
  });

  it('are about one per 800 pixels', () => {
    expect(roughFileTokens(picture(1024, 1024))).toBe(1332);
    expect(roughFileTokens({ type: 'file', mediaType: 'image/png', data: 'AAAA' })).toBe(1600);
  });
});

describe('the tokens of a document', () => {
  it('depend on its pages: ten text pages were counted as 23,236', () => {
    const part = pdf(10, 3_000_000);
    expect(maxFileTokens(part)).toBe(50_000);
    expect(roughFileTokens(part)).toBe(24_000);
    expect(maxFileTokens(pdf(100))).toBeGreaterThan(100 * 2481);
  });

  it('depend on its bytes if no page is found, or if it is text', () => {
    const packed = pdf(0, 30_000);
    expect(maxFileTokens(packed)).toBe(20_000);
    const text: FilePart = { type: 'file', mediaType: 'text/plain', data: 'A'.repeat(4000) };
    expect([maxFileTokens(text), roughFileTokens(text)]).toEqual([1500, 1000]);
    expect(maxFileTokens({ type: 'file', mediaType: 'application/pdf', data: '§' })).toBe(1);
  });
});

describe('inputBound', () => {
  it('counts an image of one megabyte by its pixels, and the text beside it by its bytes', () => {
    const bound = (content: readonly (FilePart | { type: 'text'; text: string })[]) =>
      inputBound({ ...emptyState(), messages: [{ role: 'user', content }] }, { tools: [] });
    const words = { type: 'text', text: 'x'.repeat(2000) } as const;
    const one = picture(1024, 1024, 1_000_000);
    expect(bound([words, one]) - bound([words])).toBe(maxFileTokens(one));
    expect(bound([one])).toBeLessThan(3000);
  });
});
