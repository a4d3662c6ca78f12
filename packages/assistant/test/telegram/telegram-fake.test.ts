import { systemRuntime } from '@cobbler/agent';
import { fakeRuntime } from '@cobbler/agent/testing';
import { describe, expect, it } from 'vitest';
import { telegramChannel } from '../../src/telegram/index.ts';
import { fakeTelegram, readHtml, serveTelegram } from '../../src/testing/index.ts';

const token = '123:fake';
const root = 'https://api.telegram.org';

async function call(
  telegram: ReturnType<typeof fakeTelegram>,
  method: string,
  payload: object = {},
  key = token,
) {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify(payload);
  const response = await telegram.handler(
    new Request(`${root}/bot${key}/${method}`, { method: 'POST', headers, body }),
  );
  return { status: response.status, ...((await response.json()) as Record<string, unknown>) };
}

function withPerson() {
  const telegram = fakeTelegram({ token });
  telegram.say(1, 'hello');
  return telegram;
}

const button = (callback_data: unknown, text: unknown = 'a') => ({
  inline_keyboard: [[{ text, callback_data }]],
});

describe('the fake Bot API rejects, like the real one', () => {
  it.each([
    ['an empty text', { text: '' }, 'message text is empty'],
    ['a text of only whitespace', { text: ' \n\u200b' }, 'message text is empty'],
    ['no text', {}, 'message text is empty'],
    [
      'a text that is blank after its markup is parsed',
      { text: '<b> </b>', parse_mode: 'HTML' },
      'message text is empty',
    ],
    ['a text of 4097 UTF-16 units', { text: 'x'.repeat(4097) }, 'message is too long'],
    ['a lone surrogate', { text: 'a\ud83d' }, 'strings must be encoded in UTF-8'],
    ['an unknown parse mode', { text: 'x', parse_mode: 'HTM' }, 'unsupported parse_mode'],
    ['an unknown chat', { text: 'x', chat_id: 2 }, 'chat not found'],
    ['no chat', { text: 'x', chat_id: undefined }, 'chat_id is empty'],
    ['button data of 66 bytes', { text: 'x', reply_markup: button('ü'.repeat(33)) }, 'BUTTON_DATA_INVALID'],
    ['a button without data', { text: 'x', reply_markup: button(undefined) }, 'Text buttons are unallowed'],
    [
      'an unknown tag',
      { text: 'é<p>x</p>', parse_mode: 'HTML' },
      `can't parse entities: Unsupported start tag "p" at byte offset 2`,
    ],
    [
      'an unclosed tag',
      { text: '<b>x', parse_mode: 'HTML' },
      `Can't find end tag corresponding to start tag "b"`,
    ],
    [
      'overlapping tags',
      { text: '<b><i>x</b></i>', parse_mode: 'HTML' },
      'Unmatched end tag at byte offset 7, expected "</i>", found "</b>"',
    ],
    [
      'an end tag without a start tag',
      { text: 'x</b>', parse_mode: 'HTML' },
      'Unexpected end tag at byte offset 1',
    ],
    [
      'a less-than sign that starts no tag',
      { text: 'a < b', parse_mode: 'HTML' },
      'Unsupported start tag "" at byte offset 2',
    ],
  ])('%s', async (_name, payload, description) => {
    const telegram = withPerson();
    expect(await call(telegram, 'sendMessage', { chat_id: 1, ...payload })).toMatchObject({
      status: 400,
      ok: false,
      error_code: 400,
      description: expect.stringContaining(description),
    });
    expect(telegram.replies(1)).toEqual([]);
  });

  it('no text of 4096 visible UTF-16 units, however long its markup is', async () => {
    const text = `<b>${'&lt;'.repeat(4096)}</b>`;
    expect(await call(withPerson(), 'sendMessage', { chat_id: '1', text, parse_mode: 'HTML' })).toMatchObject(
      { ok: true },
    );
  });

  it('a wrong token, an invalid token, and unknown methods', async () => {
    expect(await call(withPerson(), 'getMe', {}, '123:other')).toMatchObject({
      status: 401,
      description: 'Unauthorized',
    });
    expect(await call(withPerson(), 'getMe', {}, 'x')).toMatchObject({
      status: 404,
      description: 'Not Found',
    });
    expect(await call(withPerson(), 'sendNothing')).toMatchObject({ status: 404 });
  });

  it('webhooks without TLS, or with an invalid port, secret or update type', async () => {
    const url = 'https://bot.example/';
    for (const payload of [
      { url: 'http://bot.example/' },
      { url: 'https://bot.example:8080/' },
      { url: 'nothing' },
      { url, secret_token: 'a b' },
      { url, secret_token: 'x'.repeat(257) },
      { url, allowed_updates: ['no_such'] },
    ])
      expect(await call(withPerson(), 'setWebhook', payload)).toMatchObject({ status: 400 });
  });

  it('getUpdates while a webhook is set', async () => {
    const telegram = withPerson();
    await call(telegram, 'setWebhook', { url: 'https://bot.example/' });
    expect(await call(telegram, 'getUpdates')).toMatchObject({
      status: 409,
      description: expect.stringContaining("can't use getUpdates method while webhook is active"),
    });
  });

  it('the first of two concurrent getUpdates requests', async () => {
    const runtime = fakeRuntime();
    const telegram = fakeTelegram({ token, runtime });
    const first = call(telegram, 'getUpdates', { timeout: 10 });
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
    const second = call(telegram, 'getUpdates', { timeout: 10 });
    expect(await first).toMatchObject({
      status: 409,
      description: expect.stringContaining('terminated by other getUpdates'),
    });
    for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate);
    await runtime.advance(10_000);
    expect(await second).toMatchObject({ ok: true, result: [] });
  });

  it('messages to a user who has blocked the bot', async () => {
    const telegram = withPerson();
    telegram.block(1);
    expect(await call(telegram, 'sendMessage', { chat_id: 1, text: 'x' })).toMatchObject({ status: 403 });
    telegram.unblock(1);
    expect(await call(telegram, 'sendMessage', { chat_id: 1, text: 'x' })).toMatchObject({ ok: true });
  });
});

describe('the fake Bot API delivers updates like the real one', () => {
  it('again with the same id and the secret until the webhook returns 200 [S3.2]', async () => {
    const seen: { id: number; secret: string | null }[] = [];
    const statuses = [500, 404, 200, 200];
    const telegram = fakeTelegram({
      token,
      async post(request) {
        const { update_id: id } = (await request.json()) as { update_id: number };
        seen.push({ id, secret: request.headers.get('x-telegram-bot-api-secret-token') });
        return new Response(null, { status: statuses[seen.length - 1] ?? 200 });
      },
    });
    const updates = [telegram.say(1, 'a'), telegram.say(1, 'b')];
    await call(telegram, 'setWebhook', { url: 'https://bot.example/', secret_token: 'abc' });
    const deliveries = await telegram.deliver();
    const [a, b] = updates.map(({ update_id }) => update_id);
    expect(seen).toEqual([a, a, a, b].map((id) => ({ id, secret: 'abc' })));
    expect(deliveries.map(({ attempt, status }) => [attempt, status])).toEqual([
      [1, 500],
      [2, 404],
      [3, 200],
      [1, 200],
    ]);
    expect(telegram.pending).toEqual([]);
    await telegram.deliver({ updates, secret: null });
    expect(seen.slice(4)).toEqual([
      { id: a, secret: null },
      { id: b, secret: null },
    ]);
  });
});

describe('the fake Bot API on a local port', () => {
  it('receives messages and files; a cut connection is maybe_sent, a closed port is retryable', async () => {
    const telegram = withPerson();
    const server = await serveTelegram(telegram);
    const channel = telegramChannel({ token, apiRoot: server.url, runtime: systemRuntime });
    try {
      await channel.send('1', { text: 'Hi 👋' });
      await channel.sendFile('1', { name: 'a.txt', type: 'text/plain', text: 'é\n' });
      expect(
        telegram
          .messages(1)
          .slice(1)
          .map(({ text, file }) => file?.text ?? text),
      ).toEqual(['Hi 👋', 'é\n']);
      telegram.fail('sendMessage', { type: 'lost' });
      await expect(channel.send('1', { text: 'lost' })).rejects.toMatchObject({
        code: 'maybe_sent',
        retryable: false,
      });
      telegram.fail('sendMessage', { type: 'cut' });
      await expect(channel.send('1', { text: 'cut' })).rejects.toMatchObject({
        code: 'maybe_sent',
        retryable: false,
      });
      expect(telegram.replies(1)).toEqual(['Hi 👋', '', 'lost']);
    } finally {
      await server.close();
    }
    // Another test may soon use a port that was just closed, so this uses a reserved one.
    const nobody = telegramChannel({ token, apiRoot: 'http://127.0.0.1:2', runtime: systemRuntime });
    await expect(nobody.send('1', { text: 'x' })).rejects.toMatchObject({
      kind: 'network',
      retryable: true,
    });
  });
});

describe('the HTML parser of the fake Bot API', () => {
  it('returns the visible text and its entities in UTF-16 units', () => {
    expect(
      readHtml(
        '😀<b>a<i>b</i></b> <a href="https://a.example/?x=1&amp;y">c</a> <pre><code class="language-ts">d</code></pre>',
      ),
    ).toEqual({
      text: '😀ab c d',
      entities: [
        { type: 'bold', offset: 2, length: 2 },
        { type: 'italic', offset: 3, length: 1 },
        { type: 'text_link', offset: 5, length: 1, url: 'https://a.example/?x=1&y' },
        { type: 'pre', offset: 7, length: 1, language: 'ts' },
      ],
    });
  });
});
