import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { GateCall } from '@cobbler/agent';
import { defineTool, Executor } from '@cobbler/agent';
import { noRestrictions } from '@cobbler/agent/sandbox';
import { scriptedAgent } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { commandHooks } from '../../src/project/command-hooks.ts';
import { projectHooks, readHooks } from '../../src/project/hook-definitions.ts';
import { cobbler } from '../support/in-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Returns the hooks of an event with these commands. */
function hooksWith(
  event: string,
  command: string,
  { matcher = '', timeout = 5, folder = temporaryFolder() } = {},
) {
  const { found } = readHooks(
    { [event]: [{ matcher, hooks: [{ type: 'command', command, timeout }] }] },
    'f',
  );
  return commandHooks(found, { folder, env: { PATH: process.env['PATH'] }, sandbox: noRestrictions('off') });
}

const ran: unknown[] = [];
const edit = defineTool({
  ...{ name: 'edit_file', description: 'Edits.', parameters: { type: 'object' } },
  execute: (args) => {
    ran.push(args);
    return 'edited';
  },
});

/** Runs one call of edit_file with these hooks. */
async function run(hooks: ReturnType<typeof hooksWith>, args = { path: 'a.txt' }) {
  ran.length = 0;
  const asked: GateCall[] = [];
  const agent = scriptedAgent([{ calls: [{ name: 'edit_file', arguments: args }] }, 'Done.', 'Again.']);
  const gate = (call: GateCall) => {
    asked.push(call);
    return 'allow' as const;
  };
  const result = await new Executor({ agent, tools: [edit], hooks, gate }).run('Go.', { sessionId: 's' });
  return { result, asked, seen: JSON.stringify(result.messages), requests: agent.requests };
}

const json = (value: unknown) => `echo '${JSON.stringify(value)}'`;
const specific = (fields: object) => json({ hookSpecificOutput: fields });

describe('a hook before a call', () => {
  test('gets the call in the form of other programs, and blocks it with exit code 2 [P31]', async () => {
    const folder = temporaryFolder();
    const command = `cat > ${folder}/in; echo "not this file" >&2; exit 2`;
    const { seen, asked } = await run(hooksWith('PreToolUse', command, { matcher: 'Write|Edit', folder }));
    expect(seen).toContain('not this file');
    expect([ran, asked]).toEqual([[], []]);
    const { readFileSync } = await import('node:fs');
    expect(JSON.parse(readFileSync(join(folder, 'in'), 'utf8'))).toMatchObject({
      ...{ session_id: 's', hook_event_name: 'PreToolUse', cwd: folder, tool_name: 'Edit' },
      tool_input: { path: 'a.txt', file_path: join(folder, 'a.txt') },
    });
  });

  test.each([
    [specific({ permissionDecision: 'deny', permissionDecisionReason: 'no edits' }), 'no edits'],
    [json({ decision: 'block', reason: 'no edits' }), 'no edits'],
    [json({ continue: false, stopReason: 'stop here' }), 'stop here'],
    ['exit 1', 'exit code 1'],
    ['no-such-program', 'exit code 127'],
    ['echo "{"', 'failed in beforeTool'],
    ['head -c 70000 /dev/zero', 'more than 65536 bytes'],
    [specific({ permissionDecision: 'maybe' }), 'its decision is'],
  ])('blocks it with %s [P31]', async (command, words) => {
    const { seen, asked } = await run(hooksWith('PreToolUse', command));
    expect(seen).toContain(words);
    expect([ran, asked]).toEqual([[], []]);
  });

  test('is stopped with its processes at its timeout, which blocks the call', async () => {
    const { seen } = await run(hooksWith('PreToolUse', 'sleep 60 & sleep 60', { timeout: 0.1 }));
    expect(seen).toContain('it was stopped (timeout)');
    expect(ran).toEqual([]);
  });

  test('cannot allow a call: the gate decides all the same [P21]', async () => {
    const { asked } = await run(hooksWith('PreToolUse', specific({ permissionDecision: 'allow' })));
    expect([asked.length, ran.length]).toEqual([1, 1]);
  });

  test('can require a user', async () => {
    const { result } = await run(hooksWith('PreToolUse', specific({ permissionDecision: 'ask' })));
    expect([result.status, ran]).toEqual(['waiting', []]);
  });

  test('can change a call, and the gate gets the changed one [P21]', async () => {
    const input = specific({ updatedInput: { file_path: '/b.txt', text: 'x' } });
    const { asked } = await run(hooksWith('PreToolUse', input));
    expect(asked[0]?.arguments).toEqual({ path: '/b.txt', text: 'x' });
    expect(ran).toEqual([{ path: '/b.txt', text: 'x' }]);
    const both = specific({ permissionDecision: 'ask', updatedInput: {} });
    expect((await run(hooksWith('PreToolUse', both))).seen).toContain(
      'cannot both change a call and ask about it',
    );
  });

  test.each([
    ['Bash', 1],
    ['edit_file', 0],
    ['Edit|Bash', 0],
    ['Ed.*', 0],
    ['*', 0],
    ['Edi', 1],
  ])('applies to the tools that %s matches', async (matcher, count) => {
    await run(hooksWith('PreToolUse', 'exit 2', { matcher }));
    expect(ran).toHaveLength(count);
  });
});

describe('other hooks', () => {
  test('after a call add to its output, and say so if they fail', async () => {
    const { seen } = await run(
      hooksWith('PostToolUse', 'grep -q edited && echo "see the linter" >&2; exit 2'),
    );
    expect(seen).toMatch(/edited.*see the linter/);
    expect((await run(hooksWith('PostToolUse', 'exit 1'))).seen).toMatch(/edited.*failed: exit code 1/);
  });

  test('at the start block the run, or add to the instructions of every request', async () => {
    const blocked = await run(
      hooksWith('UserPromptSubmit', 'grep -q "Go." && { echo "not that" >&2; exit 2; }'),
    );
    expect(blocked.result.error).toMatchObject({ code: 'hook_failed' });
    expect(blocked.result.error?.message).toContain('not that');
    const { requests } = await run(hooksWith('SessionStart', 'echo "The branch is main."'));
    expect(requests.map(({ system }) => system)).toEqual(Array(2).fill(['The branch is main.']));
  });

  test('at the end continue the run once', async () => {
    const command = `grep -q '"stop_hook_active":true' || { echo "Run the tests." >&2; exit 2; }`;
    const { result, seen } = await run(hooksWith('Stop', command));
    expect([result.status, result.text]).toEqual(['complete', 'Again.']);
    expect(seen).toContain('Run the tests.');
  });
});

describe('the hooks of a project', () => {
  const guard = '"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh --strict';

  /** Creates a project with a hook that denies all commands. */
  function project() {
    const root = temporaryFolder();
    const script = join(root, '.claude/hooks/guard.sh');
    mkdirSync(dirname(script), { recursive: true });
    writeFileSync(script, '#!/bin/sh\nexit 2\n');
    chmodSync(script, 0o755);
    const hooks = { PreToolUse: [{ matcher: 'Bash', hooks: [{ type: 'command', command: guard }] }] };
    const more = { Notification: [{ hooks: [{ type: 'command', command: 'beep' }] }] };
    writeFileSync(join(root, '.claude/settings.json'), JSON.stringify({ hooks: { ...hooks, ...more } }));
    return { root, script };
  }

  test('are listed in full, and used only after they are trusted', async () => {
    const { root, script } = project();
    const env = { COBBLER_HOME: temporaryFolder() };
    const list = async () => (await cobbler(['skills'], { env, cwd: root })).stdout;
    expect(await list()).toMatch(
      /^ {2}hook {5}PreToolUse Bash: "\$CLAUDE_PROJECT_DIR"\/.claude\/hooks\/guard.sh --strict +new /,
    );
    await cobbler(['trust'], { env, cwd: root });
    expect(await list()).toContain(' trusted ');
    // A change of the script is a change of the hook.
    writeFileSync(script, '#!/bin/sh\nexit 0\n');
    expect(await list()).toContain(' changed ');
  });

  test('are not read through a link out of it, and a damaged file is named', async () => {
    const { root } = project();
    const outside = join(temporaryFolder(), 'hooks.json');
    writeFileSync(outside, '{"hooks":{}}');
    mkdirSync(join(root, '.cobbler'));
    const { symlinkSync } = await import('node:fs');
    symlinkSync(outside, join(root, '.cobbler/hooks.json'));
    const { found, skipped } = await projectHooks(root, {});
    expect([found.length, skipped.map(({ path }) => path)]).toEqual([1, [join(root, '.cobbler/hooks.json')]]);
  });

  test('do not run without the sandbox that they should have', async () => {
    const { root } = project();
    const { found } = await projectHooks(root, {});
    const sandbox = noRestrictions('off', 'There is no sandbox here.');
    const [hook] = commandHooks(found, { folder: root, env: {}, sandbox });
    const call = { id: '1', toolName: 'run_command', arguments: {}, effect: 'once', subject: '' } as const;
    const context = { sessionId: 's', runId: 'r', signal: new AbortController().signal };
    await expect(hook?.beforeTool?.(call, context)).rejects.toThrow('There is no sandbox here.');
  });
});

test('a wrong hook in the configuration of the user is an error', async () => {
  const env = { COBBLER_HOME: temporaryFolder() };
  writeFileSync(
    join(env.COBBLER_HOME, 'config.yaml'),
    'hooks: { PreToolUs: [{ hooks: [{ type: command, command: x }] }] }\n',
  );
  const { code, stderr } = await cobbler(['skills'], { env, cwd: temporaryFolder() });
  expect([code, stderr]).toEqual([2, expect.stringContaining('the event PreToolUs is not supported')]);
  expect(existsSync(env.COBBLER_HOME)).toBe(true);
});
