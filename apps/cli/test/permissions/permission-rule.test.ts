import { describe, expect, test } from 'vitest';
import { printCommandRule, readCommandRule } from '../../src/permissions/command-rule.ts';
import type { RuledCall } from '../../src/permissions/permission-rule.ts';
import {
  allowingRules,
  allowOptions,
  denies,
  exactRule,
  readRule,
  rulesToOffer,
  unclearFor,
} from '../../src/permissions/permission-rule.ts';

const none = () => undefined;

function command(subject: string, directory?: string): RuledCall {
  return { toolName: 'run_command', subject, arguments: { command: subject, directory } };
}

const edit: RuledCall = { toolName: 'edit_file', subject: 'a.txt', arguments: {} };
const offers = (call: RuledCall) => rulesToOffer(call, none);
const allows = (rules: readonly string[], call: RuledCall) =>
  allowingRules(
    rules.map((text) => readRule(text, 'allow')),
    call,
    none,
  ) !== undefined;

describe('the rule offered as "always"', () => {
  test('matches exactly the call, in its directory', () => {
    expect(offers(edit)).toEqual(['edit_file(a.txt)']);
    expect(offers(command('npm test'))).toEqual(['run_command(npm test)']);
    expect(offers(command('cd web && npm test', 'apps/'))).toEqual(['run_command(cd apps/web && npm test)']);
    expect(offers(command(`grep 'a b' "it's"`))).toEqual([`run_command(grep 'a b' 'it'\\''s')`]);
  });

  test('can be a wider one from the reviewed table', () => {
    expect(offers(command('git log -n 5 --oneline'))).toEqual([
      'run_command(git log -n 5 --oneline)',
      'run_command(git log [--oneline --stat --graph --no-color -n= --max-count=])',
    ]);
    expect(offers(command('git log --output=x'))).toEqual(['run_command(git log --output=x)']);
  });

  test.each([
    ...['npm test; rm x', 'a && b', 'a | b', 'echo $(x)', 'echo `x`', 'x > y', 'rm -rf build', 'git push'],
    ...['git reset --hard', 'sudo make install', 'npm publish', 'curl http://x', 'git push --force'],
    ...['find . -name *.tmp', '/bin/rm x', '', `'r'm x`, 'cd a; b'],
  ])('is never offered for %j [P21]', (subject) => {
    expect(offers(command(subject))).toEqual([]);
  });

  test('is offered for ordinary commands', () => {
    for (const subject of ['npm run build', 'node --test', 'cargo test --format pretty'])
      expect(offers(command(subject))).toEqual([`run_command(${subject})`]);
  });

  test('is not offered for a call that the user must review', () => {
    expect(offers({ ...edit, mustAsk: 'It is protected.' })).toEqual([]);
  });

  test('contains the digest of the tool of an MCP server [P21]', () => {
    const call = { toolName: 'mcp__a__b', subject: '{"x":1}', arguments: { x: 1 } };
    const [rule = ''] = rulesToOffer(call, () => 'abc');
    expect(rule).toBe('mcp__a__b({"x":1}) @abc');
    const judge = (digest: string | undefined) =>
      allowingRules([readRule(rule, 'allow')], call, () => digest) !== undefined;
    expect([judge('abc'), judge('abd'), judge(undefined)]).toEqual([true, false, false]);
  });
});

test('a subject with a star that means anything has no exact rule', () => {
  expect(exactRule(command('ls *.js'), none)).toBeUndefined();
  expect(allowOptions([command('ls *.js')], none)).toEqual(['--yes']);
  expect(allowOptions([{ ...edit, mustAsk: 'It is protected.' }], none)).toEqual(["--allow-guarded 'a.txt'"]);
});

test('an exact rule allows only its own call [P21]', () => {
  for (const subject of [
    'npm test',
    'a (b) [c] {d} $e ^f .g +h ?i \\j',
    'x; y && z',
    "echo 'it'",
    'src/[id].ts',
  ]) {
    const rule = exactRule(command(subject), none) ?? '';
    expect(allows([rule], command(subject)), subject).toBe(true);
    expect(allows([rule], command(`${subject} more`)), subject).toBe(false);
    expect(allows([rule], command(subject, 'other')), subject).toBe(false);
  }
});

test('every program of a line needs a rule, in its directory [P21]', () => {
  const rules = ['run_command(npm test)', 'run_command(cd web && npm run build)', 'run_command(wc -l)'];
  for (const line of [
    'npm test',
    '"npm"  test 2>&1 | wc -l',
    'npm test && cd web && npm run build',
    'cd a/.. && npm test',
  ])
    expect(allows(rules, command(line)), line).toBe(true);
  expect(allows(rules, command('npm run build', 'web'))).toBe(true);
  for (const line of [
    'npm test && x',
    'npm run build',
    'cd web && npm test',
    'cd web; npm test',
    'cd - && npm test',
  ])
    expect(allows(rules, command(line)), line).toBe(false);
});

test.each(['npm test', "cd 'a b' && git log [--oneline -n=]", `grep 'a*' "x"`, "echo 'it'\\''s' ''"])(
  'the rule %s is read as it is written',
  (text) => {
    const rule = readCommandRule(text);
    expect(rule && readCommandRule(printCommandRule(rule))).toEqual(rule);
    expect(rule).toBeDefined();
  },
);

test('a deny rule hits a program whatever the spelling [P21]', () => {
  const rules = ['run_command(rm)', 'run_command(git push)'].map((text) => readRule(text, 'deny'));
  const isDenied = (line: string) => rules.some((rule) => denies(rule, command(line)));
  for (const line of ['rm x', '/bin/rm x', `'r'"m" x`, 'a && RM -rf .', 'git -C . push', 'a | git push -f'])
    expect(isDenied(line), line).toBe(true);
  for (const line of ['git status', 'npm run rm-all', 'echo rm']) expect(isDenied(line), line).toBe(false);
});

test('a deny rule makes a line unclear that is not understood or can start any program [P21]', () => {
  const deny = [readRule('run_command(rm)', 'deny')];
  for (const line of ['echo $(x)', 'env rm', './x', 'python3.12 x', 'a | xargs b'])
    expect(unclearFor(deny, command(line)), line).toBeDefined();
  expect(unclearFor(deny, command('npm test'))).toBeUndefined();
  expect(unclearFor([readRule('edit_file(a)', 'deny')], command('echo $(x)'))).toBeUndefined();
});
