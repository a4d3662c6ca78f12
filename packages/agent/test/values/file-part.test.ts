import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import {
  currentPart,
  currentParts,
  fileKind,
  fileText,
  hasMediaType,
  isBase64,
  sniffMediaType,
} from '../../src/values/file-part.ts';
import type { UserPart } from '../../src/values/message.ts';

test.each([
  ['image/png', 'image'],
  ['image/svg+xml', 'image'],
  ['application/pdf', 'pdf'],
  ['audio/mpeg', 'audio'],
  ['text/markdown', 'text'],
  ['application/json', 'text'],
  ['application/zip', 'other'],
  ['', 'other'],
])('%s has the kind %s', (mediaType, kind) => {
  expect(fileKind(mediaType)).toBe(kind);
});

test.each([
  [['image/png'], 'image/png', true],
  [['image/png'], 'image/jpeg', false],
  [['text/*'], 'text/csv', true],
  [['text/*'], 'texture/csv', false],
  [['*/*'], 'application/zip', true],
  [[], 'image/png', false],
  [['image/*'], 'image', true],
  [['image/*'], '', false],
])('%j includes %s: %s', (list, mediaType, includes) => {
  expect(hasMediaType(list, mediaType)).toBe(includes);
});

test.each([
  ['AAAA', true],
  ['A', true],
  ['+/=', true],
  ['AA==', true],
  ['', false],
  ['==', false],
  ['A===', false],
  ['A=A', false],
  ['A\n', false],
  ['A-_', false],
  ['é', false],
])('%j is base64: %s', (text, expected) => {
  expect(isBase64(text)).toBe(expected);
});

// Node compiles regular expressions like this as soon as a process has compiled very many.
test('9 MiB are checked without running out of stack, even if regular expressions are not optimized', () => {
  const file = new URL('../../src/values/file-part.ts', import.meta.url).href;
  const script = `import { isBase64 } from ${JSON.stringify(file)};
    const text = 'A'.repeat(9 * 1024 * 1024);
    process.stdout.write(String([isBase64(text), isBase64(text + '!')]));`;
  const flags = ['--no-regexp-optimization', '--disable-warning=ExperimentalWarning'];
  const args = [...flags, '--input-type=module', '--eval', script];
  expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe('true,false');
});

test('the text of a file is decoded as UTF-8, and invalid bytes are replaced', () => {
  expect(fileText({ data: Buffer.from('naïve 🧵').toString('base64') })).toBe('naïve 🧵');
  expect(fileText({ data: Buffer.from([0x61, 0xff]).toString('base64') })).toBe('a\ufffd');
});

test.each([
  ['\x89PNG\r\n\x1a\n\0\0', 'image/png'],
  ['\xff\xd8\xff\xe0', 'image/jpeg'],
  ['GIF87a', 'image/gif'],
  ['GIF89a', 'image/gif'],
  ['RIFF\n\0\0\0WEBPVP8 ', 'image/webp'],
  ['RIFF\n\0\0\0AVI LIST', undefined],
  ['%PDF-1.7', 'application/pdf'],
  ['RIFF\n\0\0\0WAVEfmt ', 'audio/wav'],
  ['ID3\x04', 'audio/mpeg'],
  ['\xff\xfb\x90', 'audio/mpeg'],
  ['GIF is a format', undefined],
  ['', undefined],
])('a file that starts with %j has the type %s', (head, mediaType) => {
  expect(sniffMediaType(Buffer.from(head, 'latin1'))).toBe(mediaType);
});

describe('parts from earlier versions', () => {
  test('become files', () => {
    expect(currentPart({ type: 'image', mediaType: 'image/png', data: 'AA==' })).toEqual({
      type: 'file',
      mediaType: 'image/png',
      data: 'AA==',
    });
    const plan = { type: 'document', mediaType: 'application/pdf', data: 'AA==', name: 'plan.pdf' };
    expect(currentPart(plan)).toEqual({ ...plan, type: 'file' });
  });

  test.each([
    undefined,
    'image',
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } },
    { type: 'document', mediaType: 'application/pdf' },
    { type: 'text', text: 'image' },
  ])('%j is no such part and stays unchanged', (value) => {
    expect(currentPart(value)).toBe(value);
  });

  test('parts in the current format stay in the same array', () => {
    const parts: UserPart[] = [
      { type: 'text', text: 'Look.' },
      { type: 'file', mediaType: 'image/png', data: 'AA==' },
    ];
    expect(currentParts(parts)).toBe(parts);
  });
});
