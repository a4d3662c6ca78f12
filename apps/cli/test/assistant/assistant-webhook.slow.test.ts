import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { cobbler } from '../support/binary.ts';
import { says } from '../support/mock-service.ts';
import { ada, botService, botStage, until } from './assistant-stage.ts';

const patience = { timeout: 120_000 };

const address = 'https://bot.example.org/telegram';

async function webhookStage(...answers: readonly string[]) {
  const service = await botService(answers.map((text) => says(text)));
  const stage = await botStage(service);
  const args = ['assistant', 'set-webhook', 'https://bot.example.org', '--api-root', stage.apiRoot];
  const set = await cobbler(args, { env: stage.env });
  expect([set.code, set.stderr]).toEqual([0, '']);
  return { ...stage, service, set };
}

describe('the local bot with a webhook [S3]', () => {
  test(
    'returns 200 and replies to an authorized user, and returns only 200 to another [S3.2, S3.3]',
    patience,
    async () => {
      const { telegram, start, service } = await webhookStage('Hello, Ada.');
      await start(['--webhook', '--port', '0']);
      telegram.say(666, 'Let me in.');
      telegram.say(ada, 'Hello?');
      expect((await telegram.deliver()).map(({ status }) => status)).toEqual([200, 200]);
      await until(() => telegram.replies(ada).length > 0);
      expect(telegram.replies(ada)).toEqual(['Hello, Ada.']);
      expect([telegram.replies(666), service.server.exchanges.length]).toEqual([[], 1]);
    },
  );

  test('replies once to an update that is delivered five times', patience, async () => {
    const { telegram, start, service } = await webhookStage('Once.');
    const bot = await start(['--webhook', '--port', '0']);
    const update = telegram.say(ada, 'Hello?');
    const all = await telegram.deliver({ updates: [update, update, update, update, update], together: true });
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    await until(() => bot.log().includes('"done"'));
    await bot.stop();
    expect(telegram.replies(ada)).toEqual(['Once.']);
    expect(service.server.exchanges).toHaveLength(1);
  });

  test('replies to two quick messages in order', patience, async () => {
    const { telegram, start } = await webhookStage('First.', 'Second.');
    await start(['--webhook', '--port', '0']);
    telegram.say(ada, 'One?');
    telegram.say(ada, 'Two?');
    await telegram.deliver();
    await until(() => telegram.replies(ada).length === 2);
    expect(telegram.replies(ada)).toEqual(['First.', 'Second.']);
  });

  test('rejects requests that are not from Telegram, each with its status', patience, async () => {
    const { telegram, start } = await webhookStage();
    const bot = await start(['--webhook', '--port', '0']);
    telegram.say(ada, 'Hello?');
    for (const secret of [null, '', 'wrong', `${telegram.webhook?.secret}x`]) {
      const [delivery] = await telegram.deliver({ attempts: 1, secret });
      expect(delivery?.status, String(secret)).toBe(401);
    }
    const secret = telegram.webhook?.secret ?? '';
    const headers = { 'x-telegram-bot-api-secret-token': secret };
    const status = async (path: string, init: RequestInit) =>
      (await fetch(new URL(path, bot.address()), init)).status;
    expect(await status('/', { method: 'POST', headers, body: '{}' })).toBe(404);
    expect(await status('/telegram', { headers })).toBe(405);
    expect(await status('/telegram', { method: 'POST', headers, body: 'no json' })).toBe(400);
    expect(await status('/telegram', { method: 'POST', headers, body: 'x'.repeat(1_048_577) })).toBe(413);
    expect(await status('/telegram', { method: 'POST', headers, body: '{}' })).toBe(200);
    expect(bot.log()).not.toContain(secret);
    expect(await bot.stop()).toBe(0);
  });

  test(
    'creates one private secret; status shows the webhook and delete-webhook removes it',
    patience,
    async () => {
      const { telegram, env, apiRoot, set, start } = await webhookStage();
      expect(telegram.webhook).toMatchObject({ url: address, secret: expect.stringMatching(/^[\w-]{43}$/) });
      expect(set.stdout).toContain(address);
      const file = join(env['COBBLER_HOME'] ?? '', 'assistant', 'webhook-secret');
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const about = async (...args: string[]) =>
        (await cobbler(['assistant', ...args, '--api-root', apiRoot], { env })).stdout;
      expect(await about('status')).toMatch(/cobbler_test_bot[\s\S]*bot\.example\.org[\s\S]*not running/);
      // With a webhook set, polling fails with advice.
      const bot = await start();
      expect(await bot.ended).toBe(2);
      expect(bot.log()).toContain('delete-webhook');
      await about('delete-webhook');
      expect(telegram.webhook).toBeUndefined();
      expect(await about('status')).toContain('uses polling');
    },
  );
});
