import type { GateCall } from '@cobbler/agent';
import { describe, expect, test } from 'vitest';
import type { PermissionMode } from '../../src/permissions/permission.ts';
import { Permission } from '../../src/permissions/permission.ts';

const context = { signal: new AbortController().signal, session: 's' };

function call(toolName: string, subject: string, effect: GateCall['effect'] = 'once'): GateCall {
  return { id: '1', toolName, subject, effect, arguments: { command: subject } };
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
      const { gate } = new Permission(mode, [], true, { deny: ['read_file(secret*)'] });
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
    const permission = new Permission('ask', ['run_command(npm test)'], true);
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
      expect(permission.missingOptions).toEqual(["--allow-guarded '.git/config'"]);
    });

    test('is not allowed by a rule that names it exactly [P21]', async () => {
      const { gate } = new Permission('edits', ['edit_file(.git/config)'], true);
      expect((await gate(guarded, context)).type).toBe('ask');
    });

    test('has no "always" option [P21]', () => {
      const permission = new Permission('ask', [], true);
      expect(permission.offers(guarded)).toEqual([]);
      expect(permission.offers({ ...command, mustAsk })).toEqual([]);
    });
  });

  test('does not allow a command that is joined to an allowed one [P21]', async () => {
    const { gate } = new Permission('ask', ['run_command(npm test)'], true);
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

test('a decision names its reason and its rules', () => {
  const allow = ['run_command(git log [--oneline -n=])', 'run_command(npm test)'];
  const permission = new Permission('ask', allow, true, { deny: ['run_command(curl)'] });
  const decide = (subject: string) => {
    const { type, rules } = permission.decide(call('run_command', subject));
    return [type, ...rules];
  };
  expect(decide('git log --oneline -n 5 && npm test')).toEqual(['allow', ...allow]);
  expect(decide('git log --output=x')).toEqual(['ask']);
  expect(decide('npm test | /usr/bin/curl x')).toEqual(['deny', 'run_command(curl)']);
});

test('a replay applies the rules of an older recording', async () => {
  const { gate } = new Permission('ask', ['run_command(npm *)'], false, { isReplay: true });
  expect((await gate(call('run_command', 'npm test'), context)).type).toBe('allow');
  expect((await gate(call('run_command', 'npm test; x'), context)).type).toBe('deny');
});
