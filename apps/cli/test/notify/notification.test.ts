import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Executor } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { notificationOf, notifyUser } from '../../src/notify/notification.ts';
import type { JsonPost } from '../../src/notify/post-json.ts';
import { openSessions } from '../../src/session/session-home.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const notification = {
  ...({ type: 'run', id: 's-3', session: 's', status: 'complete', title: 'Go', text: 'Done.' } as const),
  time: '2026-01-01T00:00:00.000Z',
};

/** Delivers the notification with a webhook that gives these answers. */
async function deliver(setting: Parameters<typeof notifyUser>[0], answers: (string | undefined)[] = []) {
  const posts: JsonPost[] = [];
  const pauses: number[] = [];
  const problems = await notifyUser(
    setting,
    notification,
    { PATH: process.env['PATH'], COBBLER_HOME: temporaryFolder() },
    {
      post: async (post) => {
        posts.push(post);
        return answers.shift();
      },
      pause: async (ms) => void pauses.push(ms),
      supervise: (await import('@cobbler/agent/node')).superviseProcess,
    },
  );
  return { posts, pauses, problems };
}

describe('a notification', () => {
  test('is signed with the secret, over exactly the body', async () => {
    const { posts, problems } = await deliver({ webhook: 'http://10.0.0.1/hook', secret: 'abc' });
    const [{ body, headers, url } = { body: '', headers: {}, url: '' }] = posts;
    const digest = createHmac('sha256', 'abc').update(body).digest('hex');
    expect([url, headers]).toEqual(['http://10.0.0.1/hook', { 'x-cobbler-signature': `sha256=${digest}` }]);
    expect(JSON.parse(body)).toEqual(notification);
    expect(problems).toEqual([]);
  });

  test('is sent again after a failure, three times in total, and then reported', async () => {
    const again = await deliver({ webhook: 'http://a.example' }, ['a.example responded with 500']);
    expect([again.posts.length, again.pauses, again.problems]).toEqual([2, [1000], []]);
    const failing = ['down', 'down', 'a.example did not respond'];
    const { posts, pauses, problems } = await deliver({ webhook: 'http://a.example' }, failing);
    expect([posts.length, pauses]).toEqual([3, [1000, 2000]]);
    expect(problems).toEqual(['The notification was not delivered: a.example did not respond.']);
  });

  test('is passed to the command on standard input, without the keys of this process [P19]', async () => {
    const out = join(temporaryFolder(), 'out');
    process.env['ANTHROPIC_API_KEY'] = 'sk-ant-secret';
    const command = ['sh', '-c', `cat > ${out}; echo "[$ANTHROPIC_API_KEY]" >> ${out}`];
    expect((await deliver({ command })).problems).toEqual([]);
    delete process.env['ANTHROPIC_API_KEY'];
    expect(readFileSync(out, 'utf8')).toBe(`${JSON.stringify(notification)}[]\n`);
    const { problems } = await deliver({ command: ['sh', '-c', 'exit 3'] });
    expect(problems).toEqual(['The notification was not delivered: sh: exit code 3.']);
  });

  test('is not sent if the setting is only for the chat', async () => {
    expect((await deliver('desktop')).posts).toEqual([]);
    expect((await deliver({ chat: 'off' })).posts).toEqual([]);
  });

  test('says what a run waits for, and clips the text', async () => {
    const sessions = await openSessions({ COBBLER_HOME: temporaryFolder() });
    const tool = {
      ...{ name: 'pay', description: 'Pays.', parameters: { type: 'object' } },
      execute: () => 'paid',
    };
    const agent = scriptedAgent([{ text: 'x'.repeat(3000), calls: [{ name: 'pay', arguments: {} }] }]);
    const run = new Executor({ agent, tools: [tool], gate: () => 'ask', store: sessions.store });
    const { sessionId } = await run.run('Pay the bill.');
    expect(await notificationOf(sessions, sessionId)).toMatchObject({
      ...{ session: sessionId, status: 'waiting', title: 'Pay the bill.', waitsFor: ['pay'] },
      text: 'x'.repeat(2000),
    });
    expect(await notificationOf(sessions, 'other')).toBeUndefined();
    await sessions.store.close();
  });
});
