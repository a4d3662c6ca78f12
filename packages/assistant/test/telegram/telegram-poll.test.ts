import type { AgentError } from '@cobbler/agent';
import type { FakeRuntime } from '@cobbler/agent/testing';
import { fakeRuntime } from '@cobbler/agent/testing';
import { describe, expect, it } from 'vitest';
import type { PollOptions } from '../../src/telegram/index.ts';
import { deleteWebhook, getMe, poll, setWebhook, telegramApi } from '../../src/telegram/index.ts';
import type { FakeTelegram } from '../../src/testing/index.ts';
import { fakeTelegram } from '../../src/testing/index.ts';

const token = '123:poll';

interface Stand {
  readonly runtime: FakeRuntime;
  readonly telegram: FakeTelegram;
  readonly control: AbortController;
  readonly got: number[];
  readonly troubles: AgentError[];
  readonly api: ReturnType<typeof telegramApi>;
  start(options?: Partial<PollOptions>): Promise<void>;
}

function stand(): Stand {
  const runtime = fakeRuntime();
  const telegram = fakeTelegram({ token, runtime });
  const control = new AbortController();
  const got: number[] = [];
  const troubles: AgentError[] = [];
  const api = telegramApi({ token, runtime: { ...runtime, fetch: telegram.fetch } });
  const onUpdate = async (update: unknown) => {
    got.push((update as { update_id: number }).update_id);
  };
  const onTrouble = (error: AgentError) => void troubles.push(error);
  return {
    runtime,
    telegram,
    control,
    got,
    troubles,
    api,
    start: (options) => poll({ api, runtime, signal: control.signal, onUpdate, onTrouble, ...options }),
  };
}

/** Waits until requests and responses, which need real turns of the event loop, have settled. */
async function settled(runtime: FakeRuntime, ms = 0): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
  await runtime.advance(ms);
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
}

const offsets = (telegram: FakeTelegram) =>
  telegram.calls.filter(({ method }) => method === 'getUpdates').map(({ payload }) => payload['offset']);

describe('long polling', () => {
  it('delivers earlier and later updates in order, each once', async () => {
    const { telegram, start, control, got, runtime } = stand();
    const early = [telegram.say(1, 'a'), telegram.say(1, 'b')];
    const done = start();
    await settled(runtime);
    const late = [telegram.say(1, 'c')];
    await settled(runtime);
    late.push(telegram.say(2, 'd'));
    await settled(runtime);
    expect(got).toEqual([...early, ...late].map(({ update_id }) => update_id));
    control.abort();
    await done;
    expect(runtime.timers).toBe(0);
  });

  it('confirms an update only after it is stored, and otherwise receives it again [S3.2]', async () => {
    const { telegram, start, control, got, troubles, runtime } = stand();
    const [first, second] = [telegram.say(1, 'a'), telegram.say(1, 'b')];
    let full = true;
    const done = start({
      async onUpdate(update) {
        const id = (update as { update_id: number }).update_id;
        if (id === second.update_id && full) throw new Error('disk full');
        got.push(id);
      },
    });
    await settled(runtime);
    expect(got).toEqual([first.update_id]);
    expect(telegram.pending.map(({ update_id }) => update_id)).toContain(second.update_id);
    expect(troubles.map(({ code }) => code)).toEqual(['not_accepted']);
    full = false;
    await settled(runtime, 1000);
    expect(got).toEqual([first.update_id, second.update_id]);
    expect(offsets(telegram)).toEqual([undefined, first.update_id + 1, second.update_id + 1]);
    control.abort();
    await done;
  });

  it('saves the offset after each update and starts from it the next time', async () => {
    const { telegram, start, control, runtime } = stand();
    const update = telegram.say(1, 'a');
    let saved: number | undefined;
    const store = {
      load: async () => saved,
      save: async (offset: number) => {
        saved = offset;
      },
    };
    const done = start({ offsets: store });
    await settled(runtime);
    expect(saved).toBe(update.update_id + 1);
    control.abort();
    await done;
    const next = stand();
    const again = next.start({ offsets: store });
    await settled(next.runtime);
    expect(offsets(next.telegram)).toEqual([saved]);
    next.control.abort();
    await again;
  });

  it('stops immediately during a request and during a pause', async () => {
    const waiting = stand();
    const done = waiting.start();
    await settled(waiting.runtime);
    waiting.control.abort();
    await done;
    const pausing = stand();
    pausing.telegram.fail('getUpdates', { type: 'cut' });
    const ended = pausing.start();
    await settled(pausing.runtime);
    expect(pausing.troubles.length).toBe(1);
    pausing.control.abort();
    await ended;
    expect([waiting.runtime.timers, pausing.runtime.timers]).toEqual([0, 0]);
  });

  it('confirms the last update if it stops right after it', async () => {
    const { telegram, start, control } = stand();
    telegram.say(1, 'a');
    await start({ onUpdate: async () => control.abort() });
    expect(telegram.pending).toEqual([]);
  });

  it('retries failures after increasing pauses until a request succeeds', async () => {
    const { telegram, start, control, troubles, runtime, got } = stand();
    telegram.fail('getUpdates', { type: 'unavailable' }, 3);
    const done = start();
    await settled(runtime);
    for (const [ms, before, after] of [
      [999, 1, 1],
      [1, 1, 2],
      [1999, 2, 2],
      [1, 2, 3],
      [3999, 3, 3],
    ] as const) {
      expect(troubles.length).toBe(before);
      await settled(runtime, ms);
      expect(troubles.length).toBe(after);
    }
    telegram.say(1, 'a');
    await settled(runtime, 1);
    expect(got.length).toBe(1);
    control.abort();
    await done;
  });

  it('starts again with the shortest pause after each success, with or without updates', async () => {
    const { telegram, start, control, troubles, runtime, got } = stand();
    telegram.fail('getUpdates', { type: 'unavailable' }, 3);
    const done = start();
    await settled(runtime);
    for (const ms of [1000, 2000, 4000]) await settled(runtime, ms);
    const succeed: (() => Promise<void>)[] = [
      async () => {
        telegram.say(1, 'a');
        await settled(runtime);
      },
      async () => await settled(runtime, 50_000),
    ];
    for (const [index, success] of succeed.entries()) {
      expect(troubles.length).toBe(3 + 2 * index);
      telegram.fail('getUpdates', { type: 'unavailable' }, 2);
      await success();
      expect(troubles.length).toBe(4 + 2 * index);
      await settled(runtime, 999);
      expect(troubles.length).toBe(4 + 2 * index);
      await settled(runtime, 1);
      expect(troubles.length).toBe(5 + 2 * index);
      await settled(runtime, 2000);
    }
    expect(got.length).toBe(1);
    control.abort();
    await done;
  });

  it('starts again with the shortest pause if it accepted the first of several updates', async () => {
    const { telegram, start, control, troubles, runtime } = stand();
    telegram.fail('getUpdates', { type: 'unavailable' }, 3);
    const [first, second] = [telegram.say(1, 'a'), telegram.say(1, 'b')];
    const tried: unknown[] = [];
    const done = start({
      async onUpdate(update) {
        tried.push((update as { update_id: number }).update_id);
        if (tried.length === 2) throw new Error('disk full');
      },
    });
    await settled(runtime);
    for (const ms of [1000, 2000, 4000]) await settled(runtime, ms);
    expect([tried.length, troubles.length]).toEqual([2, 4]);
    await settled(runtime, 999);
    expect(tried.length).toBe(2);
    await settled(runtime, 1);
    expect(tried).toEqual([first.update_id, second.update_id, second.update_id]);
    control.abort();
    await done;
  });

  it('waits for as long as Telegram requests', async () => {
    const { telegram, start, control, runtime, got } = stand();
    telegram.fail('getUpdates', { type: 'limit', retryAfter: 40 });
    telegram.say(1, 'a');
    const done = start();
    await settled(runtime, 39_999);
    expect(got.length).toBe(0);
    await settled(runtime, 1);
    expect(got.length).toBe(1);
    control.abort();
    await done;
  });

  it('ends with an error if a webhook is set or the token is wrong', async () => {
    const { api, start, telegram } = stand();
    await setWebhook(api, { url: 'https://bot.example/hook', secret: 'abc' });
    await expect(start()).rejects.toMatchObject({
      code: 'webhook_set',
      message: expect.stringContaining('delete the webhook'),
    });
    await deleteWebhook(api);
    telegram.fail('getUpdates', { type: 'unauthorized' });
    await expect(start()).rejects.toMatchObject({ kind: 'auth', code: 'bot_token' });
  });

  it('reports a second poller, continues for a while, and then ends', async () => {
    const { api, start, control, troubles, runtime } = stand();
    const ended = start().then(
      () => 'stopped',
      (error: AgentError) => error.code,
    );
    for (let rival = 0; rival < 6; rival += 1) {
      await settled(runtime);
      void api.raw.getUpdates({ timeout: 50 }).catch(() => {});
      await settled(runtime, 30_000);
    }
    expect(troubles[0]?.message).toContain('stop it');
    expect(await ended).toBe('other_poller');
    control.abort();
  });
});

describe('webhooks', () => {
  it('are set with their secret, only for messages and taps', async () => {
    const { api, telegram } = stand();
    await setWebhook(api, {
      url: 'https://bot.example/hook',
      secret: 'abc_-1',
      maxConnections: 5,
      dropPending: true,
    });
    expect(telegram.webhook).toEqual({
      url: 'https://bot.example/hook',
      secret: 'abc_-1',
      maxConnections: 5,
      allowed: ['message', 'callback_query'],
    });
  });

  it('keep undelivered updates on deletion, unless the caller drops them', async () => {
    const { api, telegram } = stand();
    telegram.say(1, 'a');
    await setWebhook(api, { url: 'https://bot.example/hook', secret: 'abc' });
    await deleteWebhook(api);
    expect(telegram.pending.length).toBe(1);
    await deleteWebhook(api, { dropPending: true });
    expect(telegram.pending.length).toBe(0);
  });

  it.each([
    ['http://bot.example/hook', 'abc', 'webhook_url'],
    ['bot.example', 'abc', 'webhook_url'],
    ['', 'abc', 'webhook_url'],
    ['https://bot.example/', '', 'webhook_secret'],
    ['https://bot.example/', 'a b', 'webhook_secret'],
    ['https://bot.example/', 'x'.repeat(257), 'webhook_secret'],
  ])('reject %s with the secret "%s" before an API call', async (url, secret, code) => {
    const { api, telegram } = stand();
    await expect(setWebhook(api, { url, secret })).rejects.toMatchObject({ kind: 'invalid', code });
    expect(telegram.calls.length).toBe(0);
  });

  it('getMe returns the id and name of the bot', async () => {
    expect(await getMe(stand().api)).toEqual({ id: '123', name: 'cobbler_test_bot' });
  });
});
