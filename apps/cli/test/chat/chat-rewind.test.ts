import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scriptedAgent } from '@cobbler/agent/testing';
import { workspaceTools } from '@cobbler/tools';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openSessions } from '../../src/session/session-home.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { chatStage } from './chat-stage.ts';

const write = (path: string, content: string) => ({
  calls: [{ name: 'write_file', arguments: { path, content } }],
});

/** A chat of three prompts: one, then one that writes a.txt, then one that writes a.txt and b.txt. */
async function written(isStored: boolean) {
  const folder = temporaryFolder();
  const env = { COBBLER_HOME: temporaryFolder() };
  const sessions = isStored ? await openSessions(env) : undefined;
  onTestFinished(() => sessions?.store.close());
  const agent = scriptedAgent([
    'Hello.',
    write('a.txt', 'first\n'),
    'Wrote one.',
    write('a.txt', 'second\n'),
    write('b.txt', 'other\n'),
    'Wrote two.',
    'Back.',
  ]);
  const tools = workspaceTools({ root: folder, sandbox: 'off' });
  const stage = await chatStage({ agent, folder, tools, mode: 'yes', env, ...(sessions && { sessions }) });
  for (const [prompt, answer] of [
    ['hello', 'Hello.'],
    ['write one', 'Wrote one.'],
    ['write two', 'Wrote two.'],
  ] as const) {
    stage.type(prompt, '\r');
    await stage.until(new RegExp(`${answer}\\n\\n✓ \\d`));
  }
  return { stage, agent, folder, read: (name: string) => readFileSync(join(folder, name), 'utf8') };
}

describe.each([
  ['with stored sessions', true],
  ['without stored sessions', false],
])('/rewind %s', (_name, isStored) => {
  test('goes back to before an earlier prompt, gives it back for editing, and /redo takes that back', async () => {
    const { stage, agent, folder, read } = await written(isStored);
    stage.type('/rewind', '\r');
    await stage.until('go back to before');
    expect(stage.text()).toMatch(/› write two +now · 2 files\n +write one +now · 1 file\n +hello +now\n/);
    stage.type('\x1b[B', '\r');
    await stage.until('go back with');
    expect(stage.text()).toMatch(/a\.txt will be deleted[\s\S]*b\.txt will be deleted/);
    stage.type('\r');
    await stage.until('undone, 2 files restored; to take this back: /redo');
    expect(existsSync(join(folder, 'a.txt'))).toBe(false);
    expect(stage.foot(2)).toContain('› write one');
    stage.type('\x15/redo', '\r');
    await stage.until('redone, 2 files restored');
    expect([read('a.txt'), read('b.txt')]).toEqual(['second\n', 'other\n']);
    stage.type('/redo', '\r');
    await stage.until('There is nothing to redo.');
    stage.type('/undo', '\r');
    await stage.until('undo this prompt and 2 files?');
    stage.type('y');
    await stage.until(/redone[\s\S]*undone, 2 files restored; to take this back: \/redo/);
    expect(read('a.txt')).toBe('first\n');
    stage.type('back', '\r');
    await stage.until(/Back\.\n\n✓/);
    expect(JSON.stringify(agent.requests.at(-1)?.messages)).toMatch(/write one.*back/);
    expect(JSON.stringify(agent.requests.at(-1)?.messages)).not.toContain('write two');
    stage.type('/redo', '\r');
    await stage.until(/redo\n✗ There is nothing to redo\.[\s\S]*redo\n✗ There is nothing to redo\./);
  });
});

test('/rewind of the conversation keeps the files, and of the files keeps the conversation', async () => {
  const { stage, folder, read } = await written(false);
  stage.type('/rewind', '\r');
  await stage.until('go back to before');
  stage.type('\r');
  await stage.until('go back with');
  stage.type('files', '\r');
  await stage.until('undone, 2 files restored');
  expect([read('a.txt'), existsSync(join(folder, 'b.txt'))]).toEqual(['first\n', false]);
  writeFileSync(join(folder, 'a.txt'), 'mine\n');
  stage.type('/redo', '\r');
  await stage.until(/a\.txt changed by another program since; that change will be lost too[\s\S]*redo\?/);
  stage.type('y');
  await stage.until('redone, 2 files restored');
  stage.type('/rewind', '\r');
  await stage.until(/redone[\s\S]*go back to before/);
  stage.type('\r');
  await stage.until(/redone[\s\S]*go back with/);
  stage.type('conv', '\r');
  await stage.until(/undone; to take this back: \/redo\n› write two/);
  expect([read('a.txt'), read('b.txt')]).toEqual(['second\n', 'other\n']);
});
