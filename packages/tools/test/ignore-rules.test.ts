import { execFileSync } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { listFiles, Workspace } from '../src/index.ts';
import type { Sandbox } from './sandbox.ts';
import { call, sandbox } from './sandbox.ts';

let box: Sandbox;

afterEach(() => box.remove());

/** Returns the files that git itself would add. */
function gitFiles(root: string): string[] {
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', root, '-c', 'core.excludesFile=', ...args], { encoding: 'utf8' });
  git('init', '-q');
  return git('ls-files', '--others', '--exclude-standard', '-z').split('\0').filter(Boolean).sort();
}

const trees: [string, Record<string, string>][] = [
  [
    'anchored, nested and directory rules',
    {
      '.gitignore': '/a\nb/\nc/d\n**/e\nf/**\n',
      a: '',
      'x/a': '',
      'x/b/y': '',
      b: '',
      'c/d': '',
      'x/c/d': '',
      'x/e': '',
      'f/g/h': '',
    },
  ],
  [
    'a directory that a rule in a deeper file includes again',
    {
      '.gitignore': 'b/\n*.log\n',
      'a/.gitignore': '!b/\n',
      'a/b/file': '',
      'a/b/x.log': '',
      'a/b/b/deeper': '',
      'b/file': '',
    },
  ],
  [
    'a directory that stays excluded even if a rule includes a file in it',
    { '.gitignore': 'a/\n!a/b\n', 'a/b': '', 'a/.gitignore': '!*\n' },
  ],
  [
    'rules that exclude everything except one directory',
    { '.gitignore': '/*\n!/src\n/src/*\n!/src/keep/\n', 'src/keep/a': '', 'src/drop/b': '', top: '' },
  ],
  [
    'special characters',
    {
      '.gitignore': '\\#x\n\\!y\n[ab]?\nsp ace\ntrail \n',
      '#x': '',
      '!y': '',
      ab: '',
      b: '',
      'sp ace': '',
      trail: '',
      'q[1]/b': '',
    },
  ],
  [
    'a directory with special characters in its name, included again',
    { '.gitignore': 'q*/\n', 'd/.gitignore': '!q\\[1]*/\n', 'd/q[1]/x': '', 'd/q1/x': '', 'd/q2/x': '' },
  ],
  [
    'comments, blank lines and Windows line breaks',
    { '.gitignore': '# c\r\n\r\n*.o\r\n', 'a.o': '', 'a.c': '' },
  ],
  [
    'the last matching rule of a file wins',
    { '.gitignore': '*.x\n!a.x\na.*\n!a.y', 'a.x': '', 'a.y': '', 'b.x': '' },
  ],
];

describe('.gitignore', () => {
  it.each(trees)('excludes the same files as git: %s', async (_, files) => {
    box = sandbox(files);
    const { text } = await call(listFiles(new Workspace(box.root)), {});
    const listed = text.split('\n').filter((line) => !line.endsWith('/'));
    expect(listed.sort()).toEqual(gitFiles(box.root));
  });
});
