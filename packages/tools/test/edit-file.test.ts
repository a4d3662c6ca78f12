import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { editFile, Workspace } from '../src/index.ts';
import type { Called, Sandbox } from './sandbox.ts';
import { call, sandbox } from './sandbox.ts';

let box: Sandbox;

beforeEach(() => {
  box = sandbox();
});

afterEach(() => box.remove());

function edit(
  old_text: string,
  new_text: string,
  more: { path?: string; replace_all?: boolean } = {},
): Promise<Called> {
  return call(editFile(new Workspace(box.root)), { path: 'a.txt', old_text, new_text, ...more });
}

const problemStart = '"a.txt" was not changed: ';

describe('edit_file', () => {
  it('replaces one passage and shows the change', async () => {
    box.write('a.txt', 'export const sum = (a, b) => a - b;\n');
    const { text, output } = await edit('a - b', 'a + b');
    expect(box.read('a.txt')).toBe('export const sum = (a, b) => a + b;\n');
    expect(text).toBe('Replaced 1 passage in "a.txt" (+1 -1).');
    expect(output?.summary).toBe('+1 -1');
    expect(output?.diff).toContain(
      '-export const sum = (a, b) => a - b;\n+export const sum = (a, b) => a + b;\n',
    );
  });

  it('treats replacement patterns in new_text as plain text', async () => {
    box.write('a.txt', 'price: X\n');
    await edit('X', "$& $1 $$ $` $'");
    expect(box.read('a.txt')).toBe("price: $& $1 $$ $` $'\n");
  });

  it('can delete a passage', async () => {
    box.write('a.txt', 'keep\ndrop\nkeep too\n');
    await edit('drop\n', '');
    expect(box.read('a.txt')).toBe('keep\nkeep too\n');
  });

  it('keeps Windows line breaks if the arguments contain UNIX line breaks', async () => {
    box.write('a.txt', 'one\r\ntwo\r\nthree\r\n');
    await edit('one\ntwo', 'eins\nzwei\nund mehr');
    expect(box.read('a.txt')).toBe('eins\r\nzwei\r\nund mehr\r\nthree\r\n');
    await edit('three', 'drei\nvier');
    expect(box.read('a.txt')).toBe('eins\r\nzwei\r\nund mehr\r\ndrei\r\nvier\r\n');
  });

  it('does not change other lines of a file with mixed line breaks', async () => {
    box.write('a.txt', 'one\r\ntwo\r\nthree\r\nfour\nfive\r\n');
    await edit('four\nfive', '4\n5');
    expect(box.read('a.txt')).toBe('one\r\ntwo\r\nthree\r\n4\n5\r\n');
    await edit('one\ntwo', '1\n2');
    expect(box.read('a.txt')).toBe('1\r\n2\r\nthree\r\n4\n5\r\n');
  });

  it('keeps a byte order mark and the permissions', async () => {
    box.write('a.txt', '\uFEFFone\n');
    chmodSync(join(box.root, 'a.txt'), 0o640);
    await edit('one', 'two');
    expect(box.read('a.txt')).toBe('\uFEFFtwo\n');
    expect(statSync(join(box.root, 'a.txt')).mode & 0o777).toBe(0o640);
  });

  it('refuses a passage that is not unique and reports its lines', async () => {
    const content = 'x = 1\ny = 2\nx = 1\n';
    box.write('a.txt', content);
    const { text, isError } = await edit('x = 1', 'x = 3');
    expect(isError).toBe(true);
    expect(text).toBe(
      `${problemStart}old_text occurs 2 times (lines 1, 3). Add surrounding lines to make it unique, ` +
        'or set replace_all.',
    );
    expect(box.read('a.txt')).toBe(content);
  });

  it('counts overlapping occurrences as ambiguous', async () => {
    box.write('a.txt', 'aaa');
    expect((await edit('aa', 'b')).text).toContain('occurs 2 times (line 1)');
    box.write('a.txt', 'ab'.repeat(5000));
    expect((await edit('ab', 'b')).text).toContain('occurs more than 1,000 times (line 1, …)');
  });

  it('replaces every occurrence with replace_all', async () => {
    box.write('a.txt', 'x x\nx\naaa\n');
    expect((await edit('x', 'y', { replace_all: true })).text).toBe(
      'Replaced 3 passages in "a.txt" (+2 -2).',
    );
    await edit('aa', 'b', { replace_all: true });
    expect(box.read('a.txt')).toBe('y y\ny\nba\n');
  });

  it('refuses an empty old_text and an edit that changes nothing', async () => {
    box.write('a.txt', 'x');
    expect((await edit('', 'y')).text).toContain('old_text is empty');
    expect((await edit('', 'y', { replace_all: true })).text).toContain('old_text is empty');
    expect((await edit('x', 'x')).text).toContain('nothing would change');
    expect(box.read('a.txt')).toBe('x');
  });

  it('shows the intended passage if only whitespace differs', async () => {
    box.write('a.txt', 'function f() {\n\treturn 1;\n}\n');
    expect((await edit('function f() {\n  return 1;\n}', 'x')).text).toBe(
      `${problemStart}old_text was not found. old_text must match exactly, including whitespace. ` +
        'It differs only in whitespace from the text at line 1:\nfunction f() {\n\treturn 1;\n}',
    );
  });

  it('shows the passage in which most lines match', async () => {
    box.write('a.txt', 'begin\nalpha\nbeta\ngamma\nend\n');
    expect((await edit('alpha\nBETA\ngamma', 'x')).text).toMatch(
      /The closest match is the text at line 2:\nalpha\nbeta\ngamma$/,
    );
  });

  it('shows the most similar line if no line matches', async () => {
    box.write('a.txt', 'const a = 1;\nconst total = count + price;\n');
    expect((await edit('const total = count * price;', 'x')).text).toMatch(
      /The closest match is the text at line 2:\nconst total = count \+ price;$/,
    );
  });

  it('explains what to do if no line is similar', async () => {
    box.write('a.txt', 'const a = 1;\n');
    expect((await edit('import zebra', 'x')).text).toMatch(/Read the file and copy the text from it\.$/);
    expect((await edit('\n\n\n', 'x')).text).toMatch(/Read the file and copy the text from it\.$/);
  });

  it('stays fast on large files that repeat the same line', async () => {
    box.write('a.txt', '}\n'.repeat(200_000));
    const { text, isError } = await edit(`${'}\n'.repeat(5000)}{`, 'x');
    expect(isError).toBe(true);
    expect(text.length).toBeLessThan(3000);
  });

  it('refuses binary files, files that are not UTF-8 and files that are too large', async () => {
    const files = {
      binary: Buffer.from('x\0y'),
      latin: Buffer.from('gr\xfc\xdfe x', 'latin1'),
      large: Buffer.alloc(10_000_001, 'x'),
    };
    for (const [name, content] of Object.entries(files)) box.write(name, content);
    expect((await edit('x', 'z', { path: 'binary' })).text).toBe('"binary" is a binary file.');
    expect((await edit('x', 'z', { path: 'latin' })).text).toContain('is not UTF-8 text');
    expect((await edit('x', 'z', { path: 'large' })).text).toBe(
      '"large" is too large (9.5 MiB); the limit is 9.5 MiB.',
    );
    for (const [name, content] of Object.entries(files))
      expect([name, readFileSync(join(box.root, name)).equals(content)]).toEqual([name, true]);
  });

  it('suggests files with similar names', async () => {
    box.write('src/b.txt', 'x');
    expect((await edit('x', 'y', { path: 'src/bb.txt' })).text).toBe(
      '"src/bb.txt" does not exist. Did you mean "src/b.txt"?',
    );
  });

  it('previews the change without making it', async () => {
    box.write('a.txt', 'old\n');
    const tool = editFile(new Workspace(box.root));
    const preview = await tool.preview?.({ path: 'a.txt', old_text: 'old', new_text: 'new' });
    expect(preview).toEqual({
      summary: '+1 -1',
      diff: '--- a.txt\n+++ a.txt\n@@ -1,1 +1,1 @@\n-old\n+new\n',
      changes: [{ target: 'a.txt', before: 'old\n', after: 'new\n' }],
    });
    expect(box.read('a.txt')).toBe('old\n');
    await expect(tool.preview?.({ path: 'a.txt', old_text: 'none', new_text: 'x' })).rejects.toThrow(
      'was not found',
    );
  });

  it('does not overwrite a change that another program makes during the edit', async () => {
    box.write('a.txt', 'old\n');
    const workspace = new Workspace(box.root);
    const write = workspace.write.bind(workspace);
    workspace.write = async (...args) => {
      writeFileSync(join(box.root, 'a.txt'), 'by hand\n');
      return await write(...args);
    };
    const { text } = await call(editFile(workspace), { path: 'a.txt', old_text: 'old', new_text: 'new' });
    expect(text).toBe('"a.txt" was changed by another program in the meantime. Read it again.');
    expect(box.read('a.txt')).toBe('by hand\n');
  });
});
