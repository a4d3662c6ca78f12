import { systemRuntime } from '@cobbler/agent';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { SearchOptions } from '../src/index.ts';
import { searchFiles, Workspace } from '../src/index.ts';
import { LineMatcher } from '../src/search/line-matcher.ts';
import type { Called, Sandbox } from './sandbox.ts';
import { call, sandbox } from './sandbox.ts';

let box: Sandbox;

beforeEach(() => {
  box = sandbox({
    'src/a.ts': 'const one = 1;\nconst two = 2;\n',
    'src/b.ts': 'let ONE = 1;\r\nend\r\n',
    'notes.md': 'one (two) three\n',
    '.gitignore': 'dist/\n',
    'dist/out.js': 'const one = 1;\n',
    'node_modules/m/i.js': 'const one = 1;\n',
  });
});

afterEach(() => box.remove());

function search(args: Record<string, unknown>, options: SearchOptions = {}): Promise<Called> {
  return call(searchFiles(new Workspace(box.root), options), args);
}

describe('search_files', () => {
  it('shows matching lines with file and line number, without files that git ignores', async () => {
    const { text, output } = await search({ pattern: '\\bone\\b' });
    expect(text).toBe('notes.md\n1: one (two) three\n\nsrc/a.ts\n1: const one = 1;\n');
    expect(output?.summary).toBe('2 matches in 2 files');
  });

  it('supports a directory, a file, a glob, ignored files, case and plain text', async () => {
    const filesOf = async (args: Record<string, unknown>) =>
      (await search(args)).text.split('\n').filter((line) => /^[\w./]+$/.test(line));
    expect(await filesOf({ pattern: 'one', path: 'src' })).toEqual(['src/a.ts']);
    expect(await filesOf({ pattern: 'one', path: 'notes.md' })).toEqual(['notes.md']);
    expect(await filesOf({ pattern: 'one', path: 'dist/out.js' })).toEqual(['dist/out.js']);
    expect(await filesOf({ pattern: 'one', glob: '*.md' })).toEqual(['notes.md']);
    expect(await filesOf({ pattern: 'one', path: 'src', glob: 'src/*.ts' })).toEqual(['src/a.ts']);
    expect(await filesOf({ pattern: 'one', ignore_case: true, glob: '*.ts' })).toEqual([
      'src/a.ts',
      'src/b.ts',
    ]);
    expect(await filesOf({ pattern: '(?i)one', glob: '*.ts' })).toEqual(['src/a.ts', 'src/b.ts']);
    expect(await filesOf({ pattern: '(two)', literal: true })).toEqual(['notes.md']);
    expect(await filesOf({ pattern: 'const one', include_ignored: true })).toEqual([
      'dist/out.js',
      'node_modules/m/i.js',
      'src/a.ts',
    ]);
  });

  it('shows each line around a match once and marks gaps', async () => {
    box.write('c.txt', ['a', 'hit', 'b', 'c', 'd', 'e', 'hit', 'hit', 'f', ''].join('\n'));
    expect((await search({ pattern: 'hit', context: 1 })).text).toBe(
      'c.txt\n1- a\n2: hit\n3- b\n--\n6- e\n7: hit\n8: hit\n9- f\n',
    );
  });

  it('matches anchors per line, also with Windows line breaks', async () => {
    expect((await search({ pattern: '^end$' })).text).toBe('src/b.ts\n2: end\n');
  });

  it('shows a limited number of matches and counts the others [P10]', async () => {
    box.write('many.txt', 'match\n'.repeat(5000));
    const { text, output } = await search({ pattern: '^match$', max_matches: 3 });
    expect(text).toBe(
      'many.txt\n1: match\n2: match\n3: match\n\n[4,997 more matches not shown. Use a narrower search.]',
    );
    expect(output?.summary).toBe('5,000 matches in 1 file');
    box.write('many.txt', `${'x'.repeat(390)}match\n`.repeat(5000));
    expect((await search({ pattern: 'match$', max_matches: 1000, context: 20 })).text.length).toBeLessThan(
      110_000,
    );
  });

  it('shortens a long line around its match', async () => {
    box.write('long.txt', `${'x'.repeat(5000)}needle${'y'.repeat(5000)}\n`);
    const { text } = await search({ pattern: 'needle' });
    expect(text).toMatch(/^long\.txt\n1: …x+needley+…\n$/);
    expect(text.length).toBeLessThan(450);
  });

  it('skips binary files and reports how many files were too large', async () => {
    box.write('binary', Buffer.from('unique\0unique'));
    box.write('large', Buffer.alloc(5_242_881, 'unique '));
    expect((await search({ pattern: 'unique' })).text).toBe(
      'No match for "unique" in 4 text files (files that git ignores were omitted).\n[1 file over 5.0 MiB not searched]',
    );
  });

  it('explains an invalid expression', async () => {
    const { text, isError, error } = await search({ pattern: '(unclosed' });
    expect(isError).toBe(true);
    expect(error?.code).toBe('pattern');
    expect(text).toMatch(
      /Unterminated group\. Correct the expression, or set "literal" to true to search for plain text\.$/,
    );
  });

  it('stops an expression with endless backtracking and shows earlier matches [P2]', async () => {
    box.write('a-first.txt', 'xxxxy\n');
    box.write('b-trap.txt', `${'x'.repeat(60)}\n`);
    let clocks = 0;
    const runtime = {
      ...systemRuntime,
      /** Never fires for the first file, because its search time depends on the machine. */
      timer(ms: number, fire: () => void) {
        clocks += 1;
        return clocks === 1 ? () => {} : systemRuntime.timer(ms, fire);
      },
    };
    const options = { fileTimeoutMs: 100, runtime };
    const { text, isError } = await search({ pattern: '(x+x+)+y', glob: '*-*.txt' }, options);
    expect(isError).toBe(true);
    expect(text).toBe(
      'a-first.txt\n1: xxxxy\n\n[stopped early: the expression takes too much time or memory on "b-trap.txt". ' +
        'Avoid nested quantifiers such as (x+)+.]',
    );
  });

  it.each(['^(a|a)*$', '^(a|aa)+$', '^(([a-z])+.)+[A-Z]([a-z])+$', '(.*a){25}$'])(
    'also stops the well-known expression %s [P2]',
    async (pattern) => {
      box.write('trap.txt', `${'a'.repeat(5000)}!\n`);
      const { isError } = await search({ pattern, path: 'trap.txt' }, { fileTimeoutMs: 100 });
      expect(isError).toBe(true);
    },
  );

  it('returns nothing from a worker thread that crashed, and does not wait for it [P10]', async () => {
    const signal = new AbortController().signal;
    const options = { timeoutMs: 60_000, maxMatches: 1, runtime: systemRuntime, signal };
    const matcher = new LineMatcher({ source: '(', flags: '', context: 0 }, options);
    expect(await Promise.all([matcher.match('x'), matcher.match('y')])).toEqual([undefined, undefined]);
    expect(await matcher.match('z')).toBeUndefined();
    await matcher.close();
  });

  it('stops during endless backtracking on a cancel [P3]', async () => {
    box.write('trap.txt', `${'x'.repeat(60)}\n`);
    const stop = new AbortController();
    const tool = searchFiles(new Workspace(box.root), {
      fileTimeoutMs: 60_000,
      runtime: {
        monotonic: () => 0,
        // The timer starts when the expression runs, which is the moment to cancel.
        timer: () => {
          queueMicrotask(() => stop.abort());
          return () => {};
        },
      },
    });
    const { error } = await call(tool, { pattern: '(x+x+)+y' }, { signal: stop.signal });
    expect(error?.kind).toBe('aborted');
  });

  it('returns the matches found so far at the time limit of the search', async () => {
    let now = 0;
    const runtime = { monotonic: () => (now += 1000), timer: () => () => {} };
    const { text, isError } = await search({ pattern: 'one' }, { searchTimeoutMs: 500, runtime });
    expect(isError).toBe(false);
    expect(text).toContain('notes.md\n1: one');
    expect(text).toContain('[stopped early: the search took too long. Set path or glob.]');
  });

  it('shows a file name with a line break on one line', async () => {
    box.write('two\nlines.txt', 'hidden one\n');
    expect((await search({ pattern: 'hidden' })).text).toBe('"two\\nlines.txt"\n1: hidden one\n');
  });
});
