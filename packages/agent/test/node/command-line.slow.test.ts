import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { seededRandom } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { printCommandLine, readCommandLine } from '../../src/node/command-line.ts';

const words = [
  ...['a', 'b', 'it', 'a', 'b', 'it', '"a"', "'b'", 'echo', 'printf', 'true', 'false', 'cd', ':', 'nothing'],
  ...[
    '-n',
    '-e',
    '--',
    '%s|',
    'x=y',
    '2',
    '1',
    '/',
    'a#b',
    '#',
    '~',
    'b~1',
    'x=~',
    'a:~',
    '*',
    '?',
    '$HOME',
    '!',
    '^a^b',
    '{a,b}',
  ],
  ...[
    `''`,
    `""`,
    `'a b'`,
    `"a  b"`,
    `'it"s'`,
    `"it's"`,
    `'$x'`,
    `"$x"`,
    `'\\n'`,
    `"\\n"`,
    `"#"`,
    `"!"`,
    `"é\n"`,
  ],
  ...[
    'if',
    'time',
    '[[',
    'é',
    '\\a',
    '@',
    'a:b',
    '-',
    '=',
    '2>&1',
    '>/dev/null',
    '2>/dev/null',
    '</dev/null',
  ],
];
const gaps = [' ', ' ', ' ', ' ', '  ', '\t', '', ' && ', ' || ', ' ; ', ' | ', ';', '|', '&&', ' & ', '\n'];

/** Returns lines of which the reader understands enough, and all shapes that it must not understand. */
function randomLines(count: number): string[] {
  const { between, pick } = seededRandom(21);
  return Array.from({ length: count }, () =>
    Array.from({ length: between(1, 7) }, (_, at) => (at === 0 ? '' : pick(gaps)) + pick(words)).join(''),
  );
}

/** The programs: each prints its arguments, and then what it receives. */
const programs = ['a', 'b', 'it'].map(
  (name) =>
    `${name}() { printf '[%s]' ${name} "$@"; while IFS= read -r in; do printf '{%s}' "$in"; done; test -n "$2"; }`,
);

/** Returns what each line prints to standard output, and its exit code. */
function outcomes(shell: string, lines: readonly string[]): string[] {
  const each = `for line; do cd /; eval " $line"; printf '\\nexit %s\\001' "$?"; done`;
  const script = ['exec </dev/null 2>/dev/null', ...programs, each].join('\n');
  const end = { cwd: '/', env: { PATH: '/nowhere', HOME: '/tmp', x: 'y z' }, maxBuffer: 1e8 };
  return execFileSync(shell, ['-c', script, shell, ...lines], end)
    .toString()
    .split('\u0001');
}

const shells = ['/bin/sh', '/bin/bash'].filter((path) => existsSync(path));

describe.each(shells)('in %s', (shell) => {
  test('a thousand random lines behave as the lines that were read from them [P21]', () => {
    const pairs = randomLines(8000).flatMap((text) => {
      const line = readCommandLine(text);
      return line === undefined ? [] : [{ text, printed: printCommandLine(line) }];
    });
    const tried = pairs.slice(0, 1000);
    expect(tried).toHaveLength(1000);
    const [before, after] = [tried.map(({ text }) => text), tried.map(({ printed }) => printed)].map(
      (lines) => outcomes(shell, lines),
    );
    const different = tried.filter((_, index) => before?.[index] !== after?.[index]);
    expect(different).toEqual([]);
    expect(new Set(before).size).toBeGreaterThan(100);
  }, 400_000);
});
