import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { listFiles, Workspace } from '../src/index.ts';
import type { Called, Sandbox } from './sandbox.ts';
import { call, sandbox } from './sandbox.ts';

let box: Sandbox;

afterEach(() => box.remove());

function list(args: Record<string, unknown> = {}): Promise<Called> {
  return call(listFiles(new Workspace(box.root)), args);
}

describe('list_files', () => {
  it('lists files by their full paths, sorted, with empty directories', async () => {
    box = sandbox({ 'b.txt': '', 'a/c.txt': '', 'a-b': '', 'a/B': '', 'a.txt': '' });
    mkdirSync(join(box.root, 'empty'));
    const { text, output } = await list();
    expect(text.split('\n')).toEqual(['a-b', 'a.txt', 'a/B', 'a/c.txt', 'b.txt', 'empty/']);
    expect(output?.summary).toBe('5 files');
  });

  it('omits files that .gitignore files exclude, with nested files and exceptions', async () => {
    box = sandbox({
      '.gitignore': '*.log\n/build/\n!keep.log\n',
      'a.log': '',
      'keep.log': '',
      'build/out': '',
      'src/build/in': '',
      'src/.gitignore': '*.tmp\n!important.log\n',
      'src/x.tmp': '',
      'src/important.log': '',
      'x.tmp': '',
      '.git/config': '',
      'node_modules/m/index.js': '',
    });
    expect((await list()).text.split('\n')).toEqual([
      '.gitignore',
      'keep.log',
      'src/.gitignore',
      'src/build/in',
      'src/important.log',
      'x.tmp',
    ]);
  });

  it('lists ignored files on request, except .git', async () => {
    box = sandbox({
      '.gitignore': 'out',
      'out/x': '',
      '.git/config': '',
      'node_modules/m/i.js': '',
      'a/.git': '',
    });
    mkdirSync(join(box.root, 'a/b'));
    expect((await list({ include_ignored: true })).text.split('\n')).toEqual([
      '.gitignore',
      'a/b/',
      'node_modules/m/i.js',
      'out/x',
    ]);
    expect((await list({ path: 'node_modules/m' })).text).toBe('node_modules/m/i.js');
    expect((await list({ path: 'out' })).text).toBe('out/x');
  });

  it('applies the rules of parent directories when it starts below them', async () => {
    box = sandbox({
      '.gitignore': '*.log',
      'src/.gitignore': '!b.log',
      'src/deep/a.log': '',
      'src/deep/b.log': '',
    });
    expect((await list({ path: 'src/deep' })).text).toBe('src/deep/b.log');
  });

  it('filters by a glob relative to the directory or to the workspace', async () => {
    box = sandbox({ 'src/a.ts': '', 'src/b.tsx': '', 'src/deep/c.ts': '', 'd.ts': '', 'e.md': '' });
    expect((await list({ pattern: '*.ts' })).text.split('\n')).toEqual(['d.ts', 'src/a.ts', 'src/deep/c.ts']);
    expect((await list({ pattern: 'src/**/*.{ts,tsx}' })).text.split('\n')).toEqual([
      'src/a.ts',
      'src/b.tsx',
      'src/deep/c.ts',
    ]);
    expect((await list({ path: 'src', pattern: 'deep/*.ts' })).text).toBe('src/deep/c.ts');
    expect((await list({ path: 'src', pattern: 'src/*.ts' })).text).toBe('src/a.ts');
    expect((await list({ pattern: '*.ts', depth: 1 })).text).toBe('d.ts');
    expect((await list({ pattern: '*.rs' })).text).toBe(
      'No file in the workspace matches "*.rs" (files that git ignores were omitted).',
    );
  });

  it('stops at a depth and counts the files below', async () => {
    box = sandbox({ 'a/b/c/d.txt': '', 'a/b/e.txt': '', 'a/f.txt': '', 'g.txt': '' });
    expect((await list({ depth: 1 })).text).toBe(
      'a/ (3 files)\ng.txt\n[3 files not shown. Set path or pattern.]',
    );
    expect((await list({ depth: 2 })).text).toContain('a/b/ (2 files)\na/f.txt\ng.txt\n');
  });

  it('shows the upper levels of a large tree and counts the omitted files [P10]', async () => {
    const files = Array.from({ length: 1050 }, (_, index) => [`deep/${index % 3}/f${index}`, ''] as const);
    box = sandbox({ 'top.txt': '', ...Object.fromEntries(files) });
    const { text, output } = await list();
    expect(text).toBe(
      'deep/0/ (350 files)\ndeep/1/ (350 files)\ndeep/2/ (350 files)\ntop.txt\n' +
        '[1,050 files not shown. Set path or pattern.]',
    );
    expect(output?.summary).toBe('1,051 files');
    const flat = await list({ pattern: '**/f*' });
    expect(flat.text.split('\n')).toHaveLength(1001);
    expect(flat.text).toMatch(/\n\[50 files omitted\. Use a narrower pattern\.\]$/);
    const wide = sandbox(Object.fromEntries(Array.from({ length: 1020 }, (_, index) => [`f${index}`, ''])));
    const shown = await call(listFiles(new Workspace(wide.root)), {});
    wide.remove();
    expect(shown.text).toMatch(/\n\[20 files not shown\. Set path or pattern\.\]$/);
  });

  it('shows links without following them, including circular links', async () => {
    box = sandbox({ 'a/x': '' });
    symlinkSync('..', join(box.root, 'a', 'up'));
    symlinkSync('nowhere', join(box.root, 'dead'));
    expect((await list()).text).toBe('a/up (link)\na/x\ndead (link)');
  });

  it('reports that a directory is empty, is a file, or does not exist', async () => {
    box = sandbox({ file: '' });
    mkdirSync(join(box.root, 'empty'));
    expect((await list({ path: 'empty' })).text).toBe(
      '"empty" is empty (files that git ignores were omitted).',
    );
    expect((await list({ path: 'file' })).text).toBe(
      '"file" is not a directory, or a part of its path is a file.',
    );
    expect((await list({ path: 'none' })).text).toBe('"none" does not exist.');
  });

  it('stops in very deeply nested directories [P2]', async () => {
    box = sandbox();
    mkdirSync(join(box.root, ...Array.from({ length: 300 }, () => 'd')), { recursive: true });
    const { text, isError } = await list();
    expect(isError).toBe(false);
    expect(text).toMatch(/^(d\/){65}$/);
  });

  it('stops if its signal is aborted', async () => {
    box = sandbox({ a: '' });
    const stopped = await call(listFiles(new Workspace(box.root)), {}, { signal: AbortSignal.abort() });
    expect(stopped.error?.kind).toBe('aborted');
  });
});
