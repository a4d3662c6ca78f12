import { readdirSync } from 'node:fs';
import { memoryStore } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { startServer, TokenStore } from '@cobbler/server';
import { expect, onTestFinished, test } from 'vitest';
import { cobbler } from '../support/in-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Starts a server and returns a function that runs `cobbler token` for it. */
async function served() {
  const tokens = new TokenStore();
  const settings = () => ({ agent: scriptedAgent(['Hi.']) });
  const server = await startServer({ store: memoryStore(), tokens, settings });
  onTestFinished(() => server.close());
  const env = { COBBLER_SERVER_TOKEN: tokens.own() };
  return {
    tokens,
    token: (...args: string[]) => cobbler(['token', ...args, '--url', server.url], { env }),
  };
}

test('cobbler token creates, lists and revokes tokens', async () => {
  const { tokens, token } = await served();
  const made = await token('create', 'ana', '--scope', 'prompt, read', '--expires', '12h');
  expect(made).toMatchObject({ code: 0, stdout: expect.stringMatching(/^cbk_[\w-]{43}\n$/) });
  const info = tokens.find(made.stdout.trim());
  expect(info).toMatchObject({ name: 'ana', scopes: ['read', 'prompt'], expiresAt: expect.any(String) });
  expect(made.stderr).toMatch(/^tok_\w+ {2}ana {2}read,prompt {2}until /);
  const list = await token('list');
  expect(list.stdout).toContain(`${info?.id}  ana  read,prompt`);
  const json = await token('list', '--json');
  expect(JSON.parse(json.stdout)).toContainEqual(expect.objectContaining({ id: info?.id, name: 'ana' }));
  expect(list.stdout + list.stderr + json.stdout).not.toContain('cbk_');
  expect(await token('revoke', info?.id ?? '')).toMatchObject({ code: 0, stdout: '', stderr: '' });
  expect(tokens.find(made.stdout.trim())).toBeUndefined();
});

test('a token created without --scope has every scope but admin, and no end', async () => {
  const { tokens, token } = await served();
  const { stdout } = await token('create', 'ana');
  expect(tokens.find(stdout.trim())).toMatchObject({ scopes: ['read', 'prompt', 'approve'] });
  expect(tokens.find(stdout.trim())?.expiresAt).toBeUndefined();
});

test('cobbler token stores the limits of a token and lists them', async () => {
  const { tokens, token } = await served();
  const { stdout, stderr } = await token('create', 'ana', '--rate', '30/min', '--sessions', '2');
  expect(tokens.find(stdout.trim())).toMatchObject({ requestsPerMinute: 30, runningSessions: 2 });
  const line = /ana {2}read,prompt,approve {2}rate 30\/min {2}sessions 2\n/;
  expect([stderr, (await token('list')).stdout]).toEqual([
    expect.stringMatching(line),
    expect.stringMatching(line),
  ]);
});

test.each([
  [['creat', 'ana'], 'Did you mean create?'],
  [['create'], 'Use token create NAME'],
  [['list', 'ana'], 'Use token create NAME'],
  [['create', 'ana', '--scope', 'root'], '--scope cannot be "root"'],
  [['create', 'ana', '--scope', ''], '--scope cannot be ""'],
  [['create', 'ana', '--expires', 'soon'], '--expires cannot be "soon"'],
  [['create', 'ana', '--budget', 'none'], 'no budgets'],
  [['create', 'ana', '--rate', '30'], '--rate cannot be "30"'],
  [['create', 'ana', '--rate', '0/min'], '--rate cannot be "0/min"'],
  [['create', 'ana', '--rate', '30/s'], '--rate cannot be "30/s"'],
  [['create', 'ana', '--sessions', '1.5'], '--sessions cannot be "1.5"'],
  [['revoke', 'tok_none'], 'There is no token with this id'],
])('cobbler token %j is rejected', async (args, words) => {
  const { tokens, token } = await served();
  const { code, stdout, stderr } = await token(...args);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain(words);
  expect(tokens.list()).toHaveLength(1);
});

test('cobbler token creates no owner token, and says what to do instead', async () => {
  const home = temporaryFolder();
  const end = await cobbler(['token', 'list', '--url', 'http://127.0.0.1:9'], {
    env: { COBBLER_HOME: home },
  });
  expect([end.code, end.stderr]).toEqual([2, expect.stringContaining('Set COBBLER_SERVER_TOKEN')]);
  expect(readdirSync(home)).toEqual([]);
});
