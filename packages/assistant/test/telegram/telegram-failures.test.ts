import type { AgentError } from '@cobbler/agent';
import { systemRuntime } from '@cobbler/agent';
import { describe, expect, it } from 'vitest';
import { telegramChannel } from '../../src/telegram/index.ts';
import type { FakeFault } from '../../src/testing/index.ts';
import { fakeTelegram } from '../../src/testing/index.ts';

const token = '123:failures';

function stand() {
  const telegram = fakeTelegram({ token });
  telegram.say(1, 'hello');
  const channel = telegramChannel({ token, runtime: { ...systemRuntime, fetch: telegram.fetch } });
  const failure = async (call: Promise<unknown>): Promise<AgentError | undefined> =>
    await call.then(
      () => undefined,
      (error: AgentError) => error,
    );
  return { telegram, channel, failure };
}

describe('a message that may have arrived', () => {
  it.each(['lost', 'garbled', 'gateway', 'restart', 'cut'] as const)(
    '%s: fails with maybe_sent',
    async (type) => {
      const { telegram, channel, failure } = stand();
      telegram.fail('sendMessage', { type });
      const error = await failure(channel.send('1', { text: 'x' }));
      expect(error).toMatchObject({ kind: 'network', code: 'maybe_sent', retryable: false });
      expect(error?.message).toContain('The outcome of sendMessage is unknown.');
      const arrived = !['restart', 'cut'].includes(type);
      expect(telegram.replies(1)).toEqual(arrived ? ['x'] : []);
    },
  );

  it.each(['lost', 'garbled', 'gateway', 'restart', 'cut'] as const)(
    '%s: a failed edit is retryable, because repeating it changes nothing',
    async (type) => {
      const { telegram, channel, failure } = stand();
      const id = await channel.send('1', { text: 'x' });
      telegram.fail('editMessageText', { type });
      expect(await failure(channel.edit('1', id, { text: 'y' }))).toMatchObject({
        kind: 'network',
        retryable: true,
      });
    },
  );

  it('fails with maybe_sent if the response contains no message id', async () => {
    const fetch = async () => new Response(JSON.stringify({ ok: true, result: true }));
    const channel = telegramChannel({ token, runtime: { ...systemRuntime, fetch } });
    await expect(channel.send('1', { text: 'x' })).rejects.toMatchObject({ code: 'maybe_sent' });
  });
});

describe('a message that has not arrived', () => {
  const told: [FakeFault, object, RegExp][] = [
    [{ type: 'migrated' }, { kind: 'invalid', code: 'chat_gone' }, /has moved to -1001234567890/],
    [{ type: 'unauthorized' }, { kind: 'auth', code: 'bot_token' }, /BotFather/],
    [{ type: 'limit', retryAfter: 4 }, { kind: 'rate_limit', retryAfterMs: 4000 }, /429/],
    [{ type: 'error' }, { kind: 'network', retryable: true, status: 500 }, /Nothing was done/],
    [{ type: 'unavailable' }, { kind: 'network', retryable: true, status: 503 }, /Nothing was done/],
  ];
  it.each(told.map(([fault, wanted, words]) => [fault.type, fault, wanted, words] as const))(
    '%s: fails with the matching error',
    async (_type, fault, wanted, words) => {
      const { telegram, channel, failure } = stand();
      telegram.fail('sendMessage', fault);
      const error = await failure(channel.send('1', { text: 'x' }));
      expect(error).toMatchObject({ provider: 'telegram', ...wanted });
      expect(error?.message).toMatch(words);
      expect(telegram.replies(1)).toEqual([]);
    },
  );

  it('is retried once as plain text if its markup is refused, and the error of the retry counts', async () => {
    const { telegram, channel, failure } = stand();
    telegram.fail('sendMessage', { type: 'markup' });
    telegram.fail('sendMessage', { type: 'blocked' });
    const [piece] = channel.pieces('**x**');
    expect(await failure(channel.send('1', piece ?? { text: '' }))).toMatchObject({ code: 'chat_gone' });
    expect(telegram.calls.map(({ payload }) => payload['parse_mode'])).toEqual(['HTML', undefined]);
  });

  it('is rejected before an API call if Telegram would refuse its button', async () => {
    const { telegram, channel, failure } = stand();
    for (const button of [
      { label: '', data: 'x' },
      { label: 'a', data: '' },
      { label: 'a', data: 'ü'.repeat(33) },
    ])
      expect(await failure(channel.send('1', { text: 'x' }, { buttons: [button] }))).toMatchObject({
        code: 'button',
      });
    expect(telegram.calls.length).toBe(0);
  });
});

describe('requests to Telegram', () => {
  it('disable previews, so that a link written by the model is not visited', async () => {
    const { telegram, channel } = stand();
    const id = await channel.send('1', { text: 'https://a.example/?secret' });
    await channel.edit('1', id, { text: 'https://a.example/?other' });
    for (const { payload } of telegram.calls)
      expect(payload['link_preview_options']).toEqual({ is_disabled: true });
  });

  it('answer a tap with at most 200 characters', async () => {
    const { telegram, channel } = stand();
    const update = telegram.tap(1, 1, 'x')['callback_query'] as { id: string };
    await channel.heard(update.id, '👍'.repeat(150));
    expect(telegram.heard.get(update.id)?.length).toBeLessThanOrEqual(200);
    expect(telegram.heard.get(update.id)?.isWellFormed()).toBe(true);
  });
});
