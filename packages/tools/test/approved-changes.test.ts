import { symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { PlannedChange, Run, RunEvent } from '@cobbler/agent';
import { Executor } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { editFile, Workspace, workspaceTools, writeFile } from '../src/index.ts';
import type { Sandbox } from './sandbox.ts';
import { call, sandbox } from './sandbox.ts';

let box: Sandbox;

beforeEach(() => {
  box = sandbox({ 'a.txt': 'one\n', 'b.txt': 'two\n' });
});

afterEach(() => box.remove());

type Requested = Extract<RunEvent, { type: 'approval_requested' }>;

/** Starts a run with these calls in one response, allows every call, and does something before each decision. */
async function allowAfter(
  calls: readonly (readonly [name: string, args: Record<string, unknown>])[],
  act: (asked: Requested, at: number) => void,
): Promise<Requested[]> {
  const asked: Requested[] = [];
  const executor = new Executor({
    agent: scriptedAgent([{ calls: calls.map(([name, args]) => ({ name, arguments: args })) }, 'done']),
    tools: workspaceTools({ root: box.root, sandbox: 'off', graceMs: 100 }),
    gate: () => 'ask',
    attended: true,
  });
  const run: Run = executor.run('go');
  for await (const event of run) {
    if (event.type !== 'approval_requested') continue;
    act(event, asked.push(event) - 1);
    run.decide(event.approvalId, { decision: 'allow' });
  }
  await run;
  return asked;
}

const edit = (path: string, old_text: string, new_text: string) =>
  ['edit_file', { path, old_text, new_text }] as const;

describe('a change that a user allowed', () => {
  it('is shown again with the new content, if the file has changed since [P21]', async () => {
    const asked = await allowAfter([edit('a.txt', 'one', '1')], (_, at) => {
      if (at === 0) box.write('a.txt', 'one and more\n');
    });
    expect(asked.map(({ diff }) => diff?.includes('+1 and more'))).toEqual([false, true]);
    expect(asked[1]?.isRepeated).toBe(true);
    expect(box.read('a.txt')).toBe('1 and more\n');
  });

  it('is shown again with the real target, if a link has moved since [P21]', async () => {
    symlinkSync('a.txt', join(box.root, 'link.txt'));
    const asked = await allowAfter([['write_file', { path: 'link.txt', content: 'new\n' }]], (_, at) => {
      if (at > 0) return;
      unlinkSync(join(box.root, 'link.txt'));
      symlinkSync('b.txt', join(box.root, 'link.txt'));
    });
    expect(asked.map(({ changes }) => changes?.[0]?.target)).toEqual(['a.txt', 'b.txt']);
    expect([box.read('a.txt'), box.read('b.txt')]).toEqual(['one\n', 'new\n']);
  });

  it('includes the changes of earlier calls of the response, and is asked about once', async () => {
    const calls = [edit('a.txt', 'one', 'first'), edit('a.txt', 'first', 'last')];
    calls.push(edit('new.txt', 'x', 'y'));
    const created = ['write_file', { path: 'new.txt', content: 'x\n' }] as const;
    const asked = await allowAfter([created, ...calls], () => {});
    expect(asked).toHaveLength(4);
    expect(asked[2]?.diff).toContain('-first\n+last');
    expect([box.read('a.txt'), box.read('new.txt')]).toEqual(['last\n', 'y\n']);
  });

  it('names the earlier calls for a command', async () => {
    const asked = await allowAfter(
      [edit('a.txt', 'one', '1'), ['run_command', { command: 'cat a.txt' }]],
      () => {},
    );
    expect(asked.map(({ after }) => after)).toEqual([undefined, ['edit_file a.txt']]);
  });

  it.each([
    ['another content before', { target: 'a.txt', before: 'other\n', after: '1\n' }],
    ['another content after', { target: 'a.txt', before: 'one\n', after: '2\n' }],
    ['another file', { target: 'b.txt', before: 'one\n', after: '1\n' }],
  ])('is not made if the user allowed %s [P21]', async (_, approved: PlannedChange) => {
    const workspace = new Workspace(box.root);
    const message =
      '"a.txt" has changed since a user allowed the call, so nothing was written. Read it again.';
    const context = { approved: [approved] };
    const edited = { path: 'a.txt', old_text: 'one', new_text: '1' };
    expect((await call(editFile(workspace), edited, context)).text).toBe(message);
    expect((await call(writeFile(workspace), { path: 'a.txt', content: '1\n' }, context)).text).toBe(message);
    expect(box.read('a.txt')).toBe('one\n');
  });
});
