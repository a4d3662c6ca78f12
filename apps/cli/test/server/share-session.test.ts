import { memoryStore } from '@cobbler/agent';
import { scriptedAgent, wholeRun, write } from '@cobbler/agent/testing';
import { startServer, TokenStore } from '@cobbler/server';
import { expect, onTestFinished, test } from 'vitest';
import { cobbler } from '../support/in-process.ts';

/** Starts a server with a session and returns a function that runs `cobbler sessions share` for it. */
async function served() {
  const [tokens, store] = [new TokenStore(), memoryStore()];
  await write(store, 'demo', wholeRun());
  const server = await startServer({ store, tokens, settings: () => ({ agent: scriptedAgent(['Hi.']) }) });
  onTestFinished(() => server.close());
  const env = { COBBLER_SERVER_TOKEN: tokens.own() };
  return {
    sharesOf: async (id: string) => (await store.info(id))?.shares,
    share: (...args: string[]) => cobbler(['sessions', 'share', ...args, '--url', server.url], { env }),
  };
}

test('cobbler sessions share shares a session of a server at a level, and ends that', async () => {
  const { share, sharesOf } = await served();
  expect(await share('demo', '--with', 'bob')).toMatchObject({
    code: 0,
    stderr: 'Session demo is shared to read with bob.\n',
  });
  expect(await sharesOf('demo')).toEqual([{ user: 'bob', may: 'read' }]);
  expect((await share('demo', '--with', 'bob', '--may', 'approve')).code).toBe(0);
  expect(await sharesOf('demo')).toEqual([{ user: 'bob', may: 'approve' }]);
  expect(await share('demo', '--with', 'bob', '--may', 'none')).toMatchObject({
    code: 0,
    stderr: 'Session demo is no longer shared with bob.\n',
  });
  expect(await sharesOf('demo')).toBeUndefined();
});

test.each([
  [[], 'share needs one session and one user'],
  [['demo'], 'share needs one session and one user'],
  [['demo', 'other', '--with', 'bob'], 'share needs one session and one user'],
  [['demo', '--with', 'bob', '--may', 'admin'], '--may cannot be "admin"'],
  [['none', '--with', 'bob'], 'There is no session none'],
])('cobbler sessions share %j is rejected', async (args, words) => {
  const { share, sharesOf } = await served();
  const { code, stdout, stderr } = await share(...args);
  expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(words)]);
  expect(await sharesOf('demo')).toBeUndefined();
});
