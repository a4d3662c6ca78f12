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
    ['plan', 'allow', 'deny', 'deny'],
  ])('in mode %s: read %s, edit %s, command %s', async (mode, ofRead, ofEdit, ofCommand) => {
    const { gate } = new Permission(mode, [], true);
    const verdicts = await Promise.all([read, edit, command].map((one) => gate(one, context)));
    expect(verdicts.map((verdict) => verdict.type)).toEqual([ofRead, ofEdit, ofCommand]);
  });

  test('applies plan mode to one of several sessions until its plan is approved [P21]', async () => {
    const permission = new Permission('yes', ['edit_file(a.txt)'], true);
    const ended: string[] = [];
    permission.planned = { has: (id) => id === 's', end: (id) => void ended.push(id) };
    const verdict = async (one: GateCall, session: string) =>
      (await permission.gate(one, { ...context, session })).type;
    for (const one of [edit, command]) {
      expect(await verdict(one, 's')).toBe('deny');
      expect(await verdict(one, 'other')).toBe('allow');
    }
    expect(await verdict(read, 's')).toBe('allow');
    const plan = { ...call('present_plan', '', 'read'), mustAsk: 'Do you approve this plan?' };
    expect(await verdict(plan, 's')).toBe('ask');
    permission.endPlan('s');
    expect([ended, permission.mode]).toEqual([['s'], 'yes']);
  });

  test('applies a deny rule in every mode [P21]', async () => {
    for (const mode of ['ask', 'edits', 'yes', 'read-only', 'plan'] as const) {
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

  describe('a command that needs more than the sandbox gives', () => {
    const rule = 'run_command(npm install [needs network])';
    const needy = {
      ...call('run_command', 'npm install [needs network]'),
      arguments: { command: 'npm install', needs: 'network' },
      mustAsk: 'This command wants to use the network.',
    };

    test('is allowed by a rule for exactly this call, even without a user [P21]', async () => {
      for (const mode of ['ask', 'edits', 'sandboxed', 'yes'] as const)
        expect((await new Permission(mode, [rule], false).gate(needy, context)).type, mode).toBe('allow');
    });

    test.each([
      ['other rights', { arguments: { command: 'npm install', needs: 'all' } }],
      ['another directory', { arguments: { command: 'npm install', needs: 'network', directory: 'web' } }],
      ['another command', { subject: 'npm install x [needs network]' }],
      ['untrusted output in the conversation', { untrusted: 'fetch_page' }],
      ['the rights only in its text', { arguments: { command: 'npm install [needs network]' } }],
    ])('is not allowed with %s [P21]', async (_what, other) => {
      const { gate } = new Permission('yes', [rule], true);
      expect((await gate({ ...needy, ...other }, context)).type).toBe('ask');
    });

    test('that reads the login to a registry is allowed once for all commands of the package manager [P21]', async () => {
      const registry = (command: string, other = {}) => ({
        ...call('run_command', `${command} [needs registry]`),
        arguments: { command, needs: 'registry' },
        mustAsk: 'This command wants to use the network and your login to the registry in ~/.npmrc.',
        ...other,
      });
      const permission = new Permission('ask', [], true);
      expect(permission.offers(registry('npm ci && npm audit'))).toEqual([
        'run_command(npm [needs registry])',
      ]);
      for (const line of ['npm ci && pnpm i', 'npm publish', 'npm ci; env'])
        expect(permission.offers(registry(line)), line).toEqual([]);
      permission.allow('run_command(npm [needs registry])');
      const judge = async (given: ReturnType<typeof registry>) =>
        (await permission.gate(given, context)).type;
      expect(await judge(registry('cd web && npm install left'))).toBe('allow');
      for (const line of ['pnpm install', 'npm publish', 'npm ci && env'])
        expect(await judge(registry(line))).toBe('ask');
      expect(await judge(registry('npm ci', { untrusted: 'fetch_page' }))).toBe('ask');
      const network = { arguments: { command: 'npm ci', needs: 'network' } };
      expect(await judge(registry('npm ci', network))).toBe('ask');
    });

    test('is not allowed by a rule for the command without the rights, and denied by a deny rule [P21]', async () => {
      const { gate } = new Permission('yes', ['run_command(npm install)'], true);
      expect((await gate(needy, context)).type).toBe('ask');
      const strict = new Permission('yes', [rule], true, { deny: ['run_command(npm *)'] });
      expect((await strict.gate(needy, context)).type).toBe('deny');
    });

    test('does not allow a command with the rights as its words [P21]', async () => {
      const { gate } = new Permission('ask', [rule], true);
      expect((await gate(call('run_command', 'npm install needs'), context)).type).toBe('ask');
    });

    test('names the rule that would allow it', async () => {
      const permission = new Permission('yes', [], false);
      await permission.gate(needy, context);
      expect(permission.missingOptions).toEqual([`--allow '${rule}'`]);
    });
  });

  test('offers no option for a call that sends data after untrusted output', async () => {
    const permission = new Permission('yes', [], false);
    await permission.gate({ ...call('mail', 'ann@example.com'), mustAsk: 'It can send data.' }, context);
    expect(permission.missingOptions).toEqual([]);
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
