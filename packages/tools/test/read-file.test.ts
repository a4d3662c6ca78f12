import { chmodSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readFile, Workspace } from '../src/index.ts';
import type { Called, Sandbox } from './sandbox.ts';
import { call, sandbox } from './sandbox.ts';

let box: Sandbox;

beforeEach(() => {
  box = sandbox();
});

afterEach(() => box.remove());

function read(args: Record<string, unknown>): Promise<Called> {
  return call(readFile(new Workspace(box.root)), args);
}

function lines(from: number, to: number): string {
  return Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join('');
}

describe('read_file', () => {
  it('returns a text file unchanged', async () => {
    box.write('a.txt', 'first\nsecond ✓\n');
    const { text, output } = await read({ path: 'a.txt' });
    expect(text).toBe('first\nsecond ✓\n');
    expect(output?.summary).toBe('2 lines');
  });

  it('converts Windows line breaks and removes byte order marks', async () => {
    box.write('a.txt', '\uFEFFone\r\ntwo\r\n');
    expect((await read({ path: 'a.txt' })).text).toBe('one\ntwo\n');
  });

  it('returns part of a long file and says how to read more', async () => {
    box.write('a.txt', lines(1, 5000));
    const whole = await read({ path: 'a.txt' });
    expect(whole.text).toBe(
      `${lines(1, 2000)}[lines 1 to 2000 of 5,000 lines; to read more, use offset 2001]`,
    );
    const part = await read({ path: 'a.txt', offset: 4, limit: 2 });
    expect(part.text).toBe('line 4\nline 5\n[lines 4 to 5 of 5,000 lines; to read more, use offset 6]');
    expect((await read({ path: 'a.txt', offset: 4999 })).text).toBe(
      'line 4999\nline 5000\n[lines 4999 to 5000 of 5,000 lines]',
    );
    expect((await read({ path: 'a.txt', offset: 7, limit: 1 })).output?.summary).toBe(
      'line 7 of 5,000 lines',
    );
  });

  it('numbers lines on request', async () => {
    box.write('a.txt', 'x\n\nz');
    expect((await read({ path: 'a.txt', line_numbers: true })).text).toBe('1\tx\n2\t\n3\tz\n');
    expect((await read({ path: 'a.txt', line_numbers: true, offset: 3 })).text).toContain('3\tz\n');
  });

  it('distinguishes an empty file from an offset after the end', async () => {
    box.write('empty', '');
    box.write('one', 'x');
    expect(await read({ path: 'empty' })).toMatchObject({ text: '(the file is empty)', isError: false });
    expect(await read({ path: 'one', offset: 2 })).toMatchObject({
      text: '"one" has only 1 line; offset 2 is past the end.',
      isError: true,
    });
  });

  it('returns a limited part of huge lines and files [P10]', async () => {
    box.write('line', 'x'.repeat(3_000_000));
    const cut = await read({ path: 'line' });
    expect(cut.text.length).toBeLessThan(201_000);
    expect(cut.text).toMatch(/\n\[line 1 of 1 line; line 1 is cut off, 2\.7 MiB omitted\]$/);
    box.write('wide', `${'y'.repeat(150_000)}\n`.repeat(3));
    expect((await read({ path: 'wide' })).text).toMatch(
      /\n\[line 1 of 3 lines; to read more, use offset 2\]$/,
    );
  });

  it('does not count all lines of a file of several gigabytes', async () => {
    box.write('huge', lines(1, 3000));
    truncateSync(join(box.root, 'huge'), 3_000_000_000);
    const { text } = await read({ path: 'huge', limit: 1 });
    expect(text).toBe('line 1\n[line 1 of more than 3,001 lines; to read more, use offset 2]');
  });

  it.each([
    ['png', 'image/png', Buffer.from('\x89PNG\r\n\x1a\nrest', 'latin1')],
    ['jpeg', 'image/jpeg', Buffer.from('\xff\xd8\xff\xe0rest', 'latin1')],
    ['gif', 'image/gif', Buffer.from('GIF89arest', 'latin1')],
    ['webp', 'image/webp', Buffer.from('RIFF\x04\0\0\0WEBPrest', 'latin1')],
  ])('returns an image (%s) as an image, regardless of its name', async (_, mediaType, bytes) => {
    box.write('picture.txt', bytes);
    const { output } = await read({ path: 'picture.txt' });
    expect(output?.content).toEqual([
      { type: 'text', text: `"picture.txt": ${mediaType}, ${bytes.length} bytes.` },
      { type: 'file', mediaType, data: bytes.toString('base64'), name: 'picture.txt' },
    ]);
  });

  it('returns a PDF as a document with its name', async () => {
    box.write('docs/paper', '%PDF-1.7 …');
    const { output } = await read({ path: 'docs/paper' });
    expect(output?.content).toContainEqual({
      type: 'file',
      mediaType: 'application/pdf',
      name: 'paper',
      data: Buffer.from('%PDF-1.7 …').toString('base64'),
    });
  });

  it('refuses images that are too large, and other binary files', async () => {
    box.write(
      'large.png',
      Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(4_000_000)]),
    );
    box.write('program', Buffer.from('\x7fELF\0\0\0'));
    expect((await read({ path: 'large.png' })).text).toBe(
      '"large.png" is too large to show (image/png, 3.8 MiB); the limit is 3.6 MiB.',
    );
    expect(await read({ path: 'program' })).toMatchObject({
      isError: true,
      text: '"program" is a binary file (7 bytes) and cannot be shown as text.',
    });
  });

  it('suggests files with similar names if a file does not exist', async () => {
    box.write('src/server.ts', '');
    box.write('src/deep/Server.ts', '');
    box.write('src/other.ts', '');
    box.write('node_modules/x/server.ts', '');
    expect((await read({ path: 'src/sever.ts' })).text).toBe(
      '"src/sever.ts" does not exist. Did you mean "src/server.ts" or "src/deep/Server.ts"?',
    );
    expect((await read({ path: 'server.ts' })).text).toContain('"src/deep/Server.ts" or "src/server.ts"');
    expect((await read({ path: 'README.md' })).text).toBe('"README.md" does not exist.');
  });

  it('names the tool to use for a directory', async () => {
    box.write('src/a', '');
    expect((await read({ path: 'src' })).text).toBe('"src" is a directory. list_files shows its contents.');
    expect((await read({ path: '.' })).text).toBe('"." is a directory. list_files shows its contents.');
  });

  it('reports a missing permission without the absolute path [P10]', async () => {
    if (process.getuid?.() === 0) return; // Root may read everything.
    box.write('locked', 'x');
    chmodSync(join(box.root, 'locked'), 0);
    expect((await read({ path: 'locked' })).text).toBe('"locked": permission denied.');
  });

  it('stops if its signal is aborted', async () => {
    box.write('a.txt', 'x');
    const stopped = await call(
      readFile(new Workspace(box.root)),
      { path: 'a.txt' },
      { signal: AbortSignal.abort() },
    );
    expect(stopped.error?.kind).toBe('aborted');
  });
});
