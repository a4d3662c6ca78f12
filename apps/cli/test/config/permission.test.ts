import type { GateCall } from '@cobbler/agent';
import { describe, expect, test } from 'vitest';
import { permissionOptions } from '../../src/acp/approval.ts';
import type { PermissionMode } from '../../src/config/permission.ts';
import { Permission } from '../../src/config/permission.ts';
import { allowOptions, exactRule, ruleToOffer } from '../../src/config/permission-rule.ts';

const context = { signal: new AbortController().signal, session: 's' };

function call(toolName: string, subject: string, effect: GateCall['effect'] = 'once'): GateCall {
  return { id: '1', toolName, subject, effect, arguments: {} };
}

const read = call('read_file', 'a.txt', 'read');
const edit = call('edit_file', 'a.txt');
const command = call('run_command', 'npm test');

describe('the permission gate', () => {
  test.each<[PermissionMode, string, string, string]>([
    ['ask', 'allow', 'ask', 'ask'],
    ['edits', 'allow', 'allow', 'ask'],
    ['yes', 'allow', 'allow', 'allow'],
    ['read-only', 'allow', 'deny', 'deny'],
  ])('in mode %s: read %s, edit %s, command %s', async (mode, ofRead, ofEdit, ofCommand) => {
    const { gate } = new Permission(mode, [], true);
    const verdicts = await Promise.all([read, edit, command].map((one) => gate(one, context)));
    expect(verdicts.map((verdict) => verdict.type)).toEqual([ofRead, ofEdit, ofCommand]);
  });

  test('applies a deny rule in every mode [P21]', async () => {
    for (const mode of ['ask', 'edits', 'yes', 'read-only'] as const) {
      const { gate } = new Permission(mode, [], true, ['read_file(secret*)']);
      expect((await gate(call('read_file', 'secret.txt', 'read'), context)).type, mode).toBe('deny');
    }
  });

  test('denies and records a call when there is no user to ask', async () => {
    const permission = new Permission('ask', [], false);
    expect((await permission.gate(command, context)).type).toBe('deny');
    expect((await permission.gate(read, context)).type).toBe('allow');
    expect(permission.undecided).toEqual([command]);
  });

  test('applies allow rules from the start and rules that are added later', async () => {
    const permission = new Permission('ask', ['run_command(npm test*)'], true);
    expect((await permission.gate(command, context)).type).toBe('allow');
    expect((await permission.gate(edit, context)).type).toBe('ask');
    permission.allow('edit_file(a.txt)');
    expect((await permission.gate(edit, context)).type).toBe('allow');
    expect((await permission.gate(call('edit_file', 'b.txt'), context)).type).toBe('ask');
  });

  describe('a write to a protected path', () => {
    const mustAsk = '".git/config" is protected.';
    const guarded = { ...call('edit_file', '.git/config'), mustAsk };

    test.each<PermissionMode>(['ask', 'edits', 'yes'])('needs approval in mode %s [P21]', async (mode) => {
      const { gate } = new Permission(mode, ['edit_file', 'edit_file(*)', '*'], true);
      expect((await gate(guarded, context)).type).toBe('ask');
    });

    test('is denied without a user to ask, with the option that allows it [P21]', async () => {
      const permission = new Permission('yes', [], false);
      const verdict = await permission.gate(guarded, context);
      expect(verdict).toMatchObject({ type: 'deny', message: expect.stringContaining(mustAsk) });
      expect(allowOptions(permission.undecided)).toEqual(["--allow 'edit_file(.git/config)'"]);
    });

    test('is allowed by a rule that names it exactly', async () => {
      const { gate } = new Permission('ask', ['edit_file(.git/config)'], false);
      expect((await gate(guarded, context)).type).toBe('allow');
      expect((await gate({ ...guarded, subject: '.git/hooks/x' }, context)).type).toBe('deny');
    });

    test('has no "always" option [P21]', () => {
      expect(ruleToOffer(guarded)).toBeUndefined();
      expect(permissionOptions(guarded, true).map(({ kind }) => kind)).toEqual(['allow_once', 'reject_once']);
    });

    test('has no --allow option if its path contains a star', () => {
      const starred = { ...call('edit_file', '.github/*.yml'), mustAsk };
      expect(allowOptions([starred])).toEqual([]);
    });
  });

  test('does not allow a command that is joined to an allowed one [P21]', async () => {
    const { gate } = new Permission('ask', ['run_command(npm test*)'], true);
    for (const joined of [
      'npm test; rm -rf /',
      'npm test && x',
      'npm test $(x)',
      'npm test > y',
      'npm test\nx',
    ]) {
      expect((await gate(call('run_command', joined), context)).type).toBe('ask');
    }
  });
});

describe('the rule offered as "always"', () => {
  test('matches exactly the call', () => {
    expect(ruleToOffer(command)).toBe('run_command(npm test)');
    expect(ruleToOffer(edit)).toBe('edit_file(a.txt)');
  });

  test.each([
    'npm test; rm x',
    'a && b',
    'a | b',
    'echo $(x)',
    'echo `x`',
    'x > y',
    'rm -rf build',
    'git push',
    'git reset --hard',
    'sudo make install',
    'npm publish',
    'curl http://x',
    'git push --force',
    'find . -name *.tmp',
    '/bin/rm x',
    '',
  ])('is never offered for %j', (subject) => {
    expect(ruleToOffer(call('run_command', subject))).toBeUndefined();
  });

  test('is offered for ordinary commands', () => {
    for (const subject of ['npm run build', 'node --test', 'git diff', 'cargo test --format pretty']) {
      expect(ruleToOffer(call('run_command', subject))).toBe(`run_command(${subject})`);
    }
  });
});

test('a subject with a star has no exact rule, because the star matches anything', () => {
  expect(exactRule(call('run_command', 'ls *.js'))).toBeUndefined();
  expect(allowOptions([call('run_command', 'ls *.js')])).toEqual(['--yes']);
});

test('an exact rule allows only its own call', async () => {
  for (const subject of [
    'npm test',
    'a (b) [c] {d} $e ^f .g +h ?i \\j',
    'x; y && z',
    "it's",
    'src/[id].ts',
  ]) {
    const rule = exactRule(call('run_command', subject)) ?? '';
    const { gate } = new Permission('ask', [rule], true);
    expect((await gate(call('run_command', subject), context)).type, subject).toBe('allow');
    expect((await gate(call('run_command', `${subject} more`), context)).type, subject).toBe('ask');
  }
});
