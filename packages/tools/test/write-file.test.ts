import { chmodSync, closeSync, openSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Workspace, writeFile } from '../src/index.ts';
import type { Called, Sandbox } from './sandbox.ts';
import { call, sandbox } from './sandbox.ts';

let box: Sandbox;

beforeEach(() => {
  box = sandbox();
});

afterEach(() => box.remove());

function write(path: string, content: string): Promise<Called> {
  return call(writeFile(new Workspace(box.root)), { path, content });
}

describe('write_file', () => {
  it('creates a file with its directories and describes it', async () => {
    const { text, output } = await write('src/deep/a.txt', 'one\ntwo\n');
    expect(box.read('src/deep/a.txt')).toBe('one\ntwo\n');
    expect(text).toBe('Created "src/deep/a.txt" (2 lines, 8 bytes).');
    expect(output?.summary).toBe('+2 -0');
    expect(output?.diff).toBe('--- /dev/null\n+++ src/deep/a.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n');
  });

  it('replaces a file in one step, keeps its permissions and leaves no temporary file', async () => {
    box.write('run.sh', 'old\nsame\n');
    chmodSync(join(box.root, 'run.sh'), 0o755);
    const opened = openSync(join(box.root, 'run.sh'), 'r');
    const { text, output } = await write('run.sh', 'new\nsame\n');
    // A program that is reading the file still reads the whole old content.
    expect(readFileSync(opened, 'utf8')).toBe('old\nsame\n');
    closeSync(opened);
    expect(box.read('run.sh')).toBe('new\nsame\n');
    expect(text).toBe('Replaced "run.sh" (2 lines, 9 bytes).');
    expect(output).toMatchObject({ summary: '+1 -1', diff: expect.stringContaining('-old\n+new\n same\n') });
    expect(statSync(join(box.root, 'run.sh')).mode & 0o777).toBe(0o755);
    expect(readdirSync(box.root)).toEqual(['run.sh']);
  });

  it('changes nothing if the same call is repeated [P9]', async () => {
    await write('a', 'x');
    expect((await write('a', 'x')).output).toMatchObject({ summary: 'no change' });
    expect(box.read('a')).toBe('x');
  });

  it('previews the change without making it', async () => {
    box.write('a', 'old\n');
    const tool = writeFile(new Workspace(box.root));
    expect(await tool.preview?.({ path: 'a', content: 'new\n' })).toMatchObject({
      summary: '+1 -1',
      diff: expect.stringContaining('-old\n+new\n'),
    });
    expect(await tool.preview?.({ path: 'b/c', content: 'new\n' })).toMatchObject({ summary: '+1 -0' });
    expect(box.read('a')).toBe('old\n');
    expect(readdirSync(box.root)).toEqual(['a']);
  });

  it('replaces a binary or huge file without a diff', async () => {
    box.write('binary', Buffer.from([1, 0, 2]));
    box.write('huge', 'x\n'.repeat(1_500_000));
    for (const name of ['binary', 'huge']) {
      const { output } = await write(name, 'text\n');
      expect([name, output?.summary]).toEqual([name, '+1']);
      expect(output).not.toHaveProperty('diff');
      expect(box.read(name)).toBe('text\n');
    }
  });

  it('writes any text as UTF-8, even with lone surrogates', async () => {
    await write('a', 'ok \ud800 \u{1f600} \0');
    expect(box.read('a')).toBe('ok \ufffd \u{1f600} \0');
    await write('empty', '');
    expect(box.read('empty')).toBe('');
  });

  it('explains why a file cannot be written', async () => {
    box.write('file', 'x');
    box.write('folder/x', 'x');
    expect((await write('folder', 'x')).text).toBe('"folder" is a directory, not a file.');
    expect((await write('file/x', 'x')).text).toBe(
      '"file/x" is not a directory, or a part of its path is a file.',
    );
    expect((await write('n'.repeat(256), 'x')).text).toContain('is longer than the file system allows');
    expect(box.read('file')).toBe('x');
  });

  it('still counts changed lines, without a diff, if the diff would take too long', async () => {
    const random = (seed: number) =>
      Array.from({ length: 60_000 }, (_, line) => `${(line * seed) % 7919}\n`).join('');
    box.write('a', random(31));
    const { output } = await write('a', random(17));
    expect(output?.summary).toMatch(/^\+\d+ -\d+$/);
    expect(output).not.toHaveProperty('diff');
    expect(box.read('a')).toBe(random(17));
  });
});
