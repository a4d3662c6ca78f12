import { describe, expect, test } from 'vitest';
import { printCommandLine, readCommandLine } from '../../src/node/command-line.ts';

const stepsOf = (text: string) => readCommandLine(text)?.steps.map(({ argv }) => argv);

describe('reading a command line', () => {
  test.each<[string, string[][]]>([
    ['npm test', [['npm', 'test']]],
    ['  git\tlog  --oneline\n', [['git', 'log', '--oneline']]],
    [
      'cd a && npm test || echo "it failed"',
      [
        ['cd', 'a'],
        ['npm', 'test'],
        ['echo', 'it failed'],
      ],
    ],
    [`'r'm -r"f" ''`, [['rm', '-rf', '']]],
    ['a;b|c&&d', [['a'], ['b'], ['c'], ['d']]],
    [
      `git commit -m "first\n\nsecond: 'ok' # & | ;"`,
      [['git', 'commit', '-m', "first\n\nsecond: 'ok' # & | ;"]],
    ],
    [`echo 'it'\\''s' \\'`, [['echo', "it's", "'"]]],
    ['echo a#b', [['echo', 'a#b']]],
    ['git show HEAD~1', [['git', 'show', 'HEAD~1']]],
  ])('finds the words of %j [P21]', (text, steps) => {
    expect(stepsOf(text)).toEqual(steps);
  });

  test('keeps redirections apart from the words', () => {
    expect(readCommandLine('make 2>&1 > /dev/null </dev/null | tail')).toEqual({
      steps: [
        { argv: ['make'], redirects: ['2>&1', '>/dev/null', '</dev/null'] },
        { argv: ['tail'], redirects: [] },
      ],
      operators: ['|'],
    });
  });

  test.each([
    ...['', ' ', '|', 'a |', 'a;', ';a', 'a;;b', 'a &', 'a & b', 'a |& b', 'a\nb', 'a\rb', 'a || | b'],
    ...[
      'echo $HOME',
      'echo "$HOME"',
      'echo `x`',
      'echo "`x`"',
      'echo $(x)',
      'a <(b)',
      '(a)',
      '{ a; }',
      'a {b,c}',
    ],
    ...[
      'ls *',
      'ls ?',
      'ls [a]',
      'ls ~',
      'a b=~',
      'a b:~',
      'a\\b',
      'a "\\n"',
      "a 'b",
      'a "b',
      'A=b c',
      "'A'=b c",
      'a # b',
      '# a',
    ],
    ...[
      'a > b',
      'a >> /dev/null',
      'a >/dev/null.x',
      'a >/dev/nullx',
      'a 2>&1x',
      'a2>&1',
      'a 12>/dev/null',
      '2>&1',
    ],
    ...['a >&2', 'a &>/dev/null', 'a < b', 'a <<b', '! a', 'if a', 'time a', '[[ a', "'' a", "'if' a"],
    ...['a\u00a0b', '\u00a0a', 'a \u202e', "a '\u202e'", "a '\0'", "a '\ud800'", 'é', "a 'b\u2028c'"],
  ])('does not guess what %j means [P21]', (text) => {
    expect(readCommandLine(text)).toBeUndefined();
  });

  test('is fast for a long line', () => {
    expect(stepsOf('a '.repeat(50_000))?.[0]).toHaveLength(50_000);
    expect(stepsOf(`${'a'.repeat(100_000)}$`)).toBeUndefined();
    expect(stepsOf(`"${'a"b"'.repeat(20_000)}$"`)).toBeUndefined();
  });
});

test('a printed line has every word in quotes, and is read as the same line [P21]', () => {
  const line = readCommandLine(`cd a && echo "it's" x=y 2>&1 | wc`);
  const printed = line === undefined ? '' : printCommandLine(line);
  expect(printed).toBe(`'cd' 'a' && 'echo' 'it'\\''s' 'x=y' 2>&1 | 'wc'`);
  expect(readCommandLine(printed)).toEqual(line);
});
