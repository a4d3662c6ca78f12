import { describe, expect, it } from 'vitest';
import { compileGlob } from '../src/workspace/glob.ts';

const cases: [string, string[], string[]][] = [
  ['*.ts', ['a.ts', 'src/a.ts', '.ts'], ['a.tsx', 'ts']],
  ['src/*.ts', ['src/a.ts'], ['a.ts', 'src/b/a.ts', 'x/src/a.ts']],
  ['./src/*.ts', ['src/a.ts'], []],
  ['/src/*.ts', ['src/a.ts'], []],
  ['src/**', ['src/a', 'src/b/c'], ['srcs/a']],
  ['src/**/*.ts', ['src/a.ts', 'src/b/c/a.ts'], ['a.ts']],
  ['**/test/**', ['test/a', 'x/test/a/b'], ['tests/a']],
  ['**/a/**/b', ['a/b', 'x/a/y/z/b', 'a/a/b'], ['a', 'b/a']],
  ['**', ['a', 'a/b'], []],
  ['a?c', ['abc', 'x/aöc', 'a😀c'], ['ac', 'abbc']],
  ['[a-c]x', ['ax', 'cx'], ['dx', 'x']],
  ['[!a-c]x', ['dx'], ['ax']],
  ['[^a]x', ['bx'], ['ax']],
  ['[]]x', [']x'], ['x']],
  ['[ab', ['[ab'], ['a']],
  ['*.{ts,tsx}', ['a.ts', 'a.tsx'], ['a.js']],
  ['{src,test}/{a,b}.js', ['src/a.js', 'test/b.js'], ['src/c.js']],
  ['{a,{b,c}}.x', ['a.x', 'b.x', 'c.x'], ['{a.x']],
  ['{a}', ['{a}'], ['a']],
  ['\\*.ts', ['*.ts'], ['a.ts']],
  ['a*b*c', ['abc', 'aXbYc', 'abcbc'], ['ab', 'acb']],
  ['*', ['a', 'x/y'], []],
];

describe('a glob', () => {
  it.each(cases)('%s', (pattern, matching, other) => {
    const matches = compileGlob(pattern);
    expect(matching.filter((path) => !matches(path))).toEqual([]);
    expect(other.filter((path) => matches(path))).toEqual([]);
  });

  it('matches the worst patterns in less than a second [P2]', () => {
    const names = 'a'.repeat(250);
    const steps = Array.from({ length: 200 }, () => 'a').join('/');
    // Measures CPU time, because other processes affect the elapsed time.
    const began = process.cpuUsage();
    expect(compileGlob(`${'*a'.repeat(100)}*b`)(names)).toBe(false);
    expect(compileGlob(`${'**/a/'.repeat(60)}b`)(steps)).toBe(false);
    expect(compileGlob('{a,b}'.repeat(60))(names)).toBe(false);
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1000).toBeLessThan(1000);
  });
});
