import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReadUpdateOptions } from '../../src/telegram/index.ts';
import { readUpdate } from '../../src/telegram/index.ts';
import { fakeTelegram } from '../../src/testing/index.ts';

const telegram = fakeTelegram({ token: '1:read', botName: 'cobbler_bot' });
const options: ReadUpdateOptions = { allowed: new Set(['42']), botName: '@Cobbler_bot' };
const ada = { id: 42, username: 'ada', language: 'de' };
const stranger = { id: 43, username: 'ada', name: '42' };
const read = (update: unknown) => readUpdate(update, options);

describe('readUpdate returns', () => {
  it('a text of an authorized user [S3.1]', () => {
    const update = telegram.say(ada, 'Hello 👋');
    expect(read(update)).toEqual({
      type: 'text',
      id: String(update.update_id),
      chatId: '42',
      userId: '42',
      sentAt: expect.any(Number),
      text: 'Hello 👋',
      message: '1',
      language: 'de',
    });
    const { sentAt } = read(update) as { sentAt: number };
    expect(Math.abs(sentAt - Date.now())).toBeLessThan(60_000);
  });

  it('a command without the name of this bot, but with the name of another bot', () => {
    expect(read(telegram.say(ada, '/help@cobbler_BOT now'))).toMatchObject({ text: '/help now' });
    expect(read(telegram.say(ada, '/help@other_bot'))).toMatchObject({ text: '/help@other_bot' });
  });

  it('a tap, with its message', () => {
    telegram.say(ada, 'x');
    const [message] = telegram.messages(42);
    expect(read(telegram.tap(ada, message?.id ?? 0, 'a:1'))).toMatchObject({
      type: 'tap',
      chatId: '42',
      userId: '42',
      data: 'a:1',
      tapId: expect.stringContaining('tap-'),
      message: String(message?.id),
    });
  });

  it.each(['photo', 'voice', 'sticker', 'document', 'location', 'video', 'contact', 'poll', 'animation'])(
    'an answer that a %s cannot be read',
    (kind) => {
      expect(read(telegram.sayOther(ada, { [kind]: {} }))).toMatchObject({
        type: 'other',
        answer: expect.stringMatching(/^I cannot read .+ yet\. Please send/),
      });
    },
  );

  it('an answer to a caption that asks for a separate message', () => {
    expect(read(telegram.sayOther(ada, { photo: [{}], caption: 'what is this?' }))).toMatchObject({
      type: 'other',
      answer: expect.stringContaining('as a separate message'),
    });
  });

  it('an answer that a text exceeds the limit', () => {
    expect(read(telegram.say(ada, 'x'.repeat(4097)))).toMatchObject({
      type: 'other',
      answer: expect.stringContaining('4096'),
    });
    expect(readUpdate(telegram.say(ada, 'four'), { ...options, maxText: 3 })).toMatchObject({
      type: 'other',
    });
  });
});

describe('readUpdate ignores', () => {
  const ignored = (update: unknown) => {
    const result = read(update);
    return result.type === 'ignored' ? result.reason : `not ignored but ${result.type}`;
  };

  it('unauthorized users, regardless of their names and texts [S3.3]', () => {
    expect(ignored(telegram.say(stranger, '42'))).toBe('not an allowed user');
    expect(ignored(telegram.sayOther(stranger, { photo: [] }))).toBe('not an allowed user');
    expect(ignored(telegram.tap(stranger, 1, 'x'))).not.toContain('not ignored');
    expect(readUpdate(telegram.say(ada, 'x'), { allowed: new Set(['ada', '@ada']) })).toMatchObject({
      type: 'ignored',
    });
  });

  it('all users if the list of allowed users cannot be read', () => {
    const allowed = () => {
      throw new Error('no list');
    };
    expect(readUpdate(telegram.say(ada, 'x'), { allowed })).toMatchObject({ type: 'ignored' });
    expect(readUpdate(telegram.say(ada, 'x'), { allowed: (id) => id === '42' })).toMatchObject({
      type: 'text',
    });
  });

  it('edits, groups, channels, bots, messages without a sender, and unknown types', () => {
    expect(ignored(telegram.editSaid(ada, 1, 'x'))).toBe('an edited message');
    expect(ignored(telegram.sayInGroup(ada, -100, 'x'))).toBe('not a private chat');
    expect(ignored(telegram.push('channel_post', { text: 'x', chat: { id: -1, type: 'channel' } }))).toBe(
      'a channel post',
    );
    expect(ignored(telegram.say({ ...ada, isBot: true }, 'x'))).toBe('a bot');
    expect(ignored(telegram.push('message', { chat: { id: 42, type: 'private' }, text: 'x' }))).toBe(
      'no sender',
    );
    expect(ignored(telegram.push('my_chat_member', {}))).toBe('a membership change');
    expect(ignored(telegram.push('brand_new', {}))).toBe('an update of type brand_new');
    expect(ignored(telegram.sayOther(ada, { pinned_message: {} }))).toBe('a message without content');
    expect(ignored(telegram.say(ada, ' \n'))).toBe('a message without content');
    expect(
      ignored(telegram.push('message', { from: { id: 42 }, chat: { id: 7, type: 'private' }, text: 'x' })),
    ).toBe("another user's chat");
  });

  it.each([
    undefined,
    null,
    1,
    'x',
    [],
    {},
    { update_id: '1' },
    { update_id: 1.5 },
    { update_id: 1, message: [] },
  ])('an invalid update: %j', (update) => {
    expect(read(update).type).toBe('ignored');
  });

  it('random input from unauthorized users, without throwing', () => {
    const from = fc.option(fc.oneof(fc.anything(), fc.record({ id: fc.anything(), is_bot: fc.anything() })));
    const message = fc.record(
      { from, chat: fc.anything(), text: fc.anything(), photo: fc.anything() },
      { requiredKeys: [] },
    );
    const query = fc.record(
      { id: fc.anything(), from, message: fc.oneof(message, fc.anything()), data: fc.anything() },
      { requiredKeys: [] },
    );
    const updates = fc.record(
      {
        update_id: fc.oneof(fc.integer(), fc.anything()),
        message: fc.oneof(message, fc.anything()),
        callback_query: query,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(updates, fc.anything()), (update) => {
        expect(readUpdate(update, { allowed: new Set(['nobody']) }).type).toBe('ignored');
      }),
      { numRuns: 1000, seed: 3 },
    );
  });
});
