import type { ChannelCase } from './case.ts';
import { expectFailure, expectSame, expectThat, group } from './case.ts';

const buttonThe = group('buttons');
const editThe = group('edit');
const answerTheQuery = group('heard');
const typingThe = group('typing');

const question = { text: 'May I?' };
const yesNo = [
  { label: 'Yes', data: 'y'.repeat(64) },
  { label: 'No ✗', data: 'n:ü' },
];

export const changeCases: readonly ChannelCase[] = [
  buttonThe(
    'shows buttons under the message, in order, with their data',
    async ({ channel, chatId, seen }) => {
      await channel.send(chatId, question, { buttons: yesNo });
      expectSame(seen()[0]?.buttons, yesNo, 'the buttons');
    },
  ),
  buttonThe('shows no buttons under a message without them', async ({ channel, chatId, seen }) => {
    await channel.send(chatId, question);
    await channel.send(chatId, question, { buttons: [] });
    expectSame(
      seen().map(({ buttons }) => buttons),
      [[], []],
      'the buttons',
    );
  }),
  editThe('replaces text and buttons', async ({ channel, chatId, seen }) => {
    const id = await channel.send(chatId, question, { buttons: yesNo });
    await channel.edit(chatId, id, { text: 'Yes.' });
    expectSame(
      seen().map(({ text, buttons }) => ({ text, buttons })),
      [{ text: 'Yes.', buttons: [] }],
      'the chat',
    );
  }),
  editThe('adds buttons', async ({ channel, chatId, seen }) => {
    const id = await channel.send(chatId, question);
    await channel.edit(chatId, id, question, { buttons: yesNo });
    expectSame(seen()[0]?.buttons, yesNo, 'the buttons');
  }),
  editThe('changes no other message', async ({ channel, chatId, seen }) => {
    const id = await channel.send(chatId, { text: 'a' });
    await channel.send(chatId, { text: 'b' });
    await channel.edit(chatId, id, { text: 'c' });
    expectSame(
      seen().map(({ text }) => text),
      ['c', 'b'],
      'the chat',
    );
  }),
  editThe('accepts an edit without changes', async ({ channel, chatId, seen }) => {
    const id = await channel.send(chatId, question, { buttons: yesNo });
    await channel.edit(chatId, id, question, { buttons: yesNo });
    await channel.edit(chatId, id, question, { buttons: yesNo });
    expectSame(seen().length, 1, 'messages');
  }),
  editThe(
    'accepts an edit of a deleted message, and sends nothing',
    async ({ channel, chatId, seen, remove }) => {
      const id = await channel.send(chatId, question);
      remove(id);
      await channel.edit(chatId, id, { text: 'Yes.' });
      expectSame(seen().length, 0, 'messages');
    },
    ['remove'],
  ),
  editThe(
    'reports an edit whose response is lost as retryable, and can repeat it',
    async ({ channel, chatId, meet, seen }) => {
      const id = await channel.send(chatId, question);
      meet('lost');
      await expectFailure(channel.edit(chatId, id, { text: 'Yes.' }), {
        kinds: ['network'],
        retryable: true,
      });
      await channel.edit(chatId, id, { text: 'Yes.' });
      expectSame(
        seen().map(({ text }) => text),
        ['Yes.'],
        'the chat',
      );
    },
    ['lost'],
  ),
  editThe(
    'reports chat_gone for an edit if the user has blocked the bot',
    async ({ channel, chatId, meet }) => {
      const id = await channel.send(chatId, question);
      meet('blocked');
      await expectFailure(channel.edit(chatId, id, { text: 'Yes.' }), {
        kinds: ['invalid'],
        code: 'chat_gone',
        retryable: false,
      });
    },
    ['blocked'],
  ),
  answerTheQuery(
    'confirms any number of button presses, with and without text',
    async ({ channel, chatId, tap }) => {
      const id = await channel.send(chatId, question, { buttons: yesNo });
      await channel.heard(tap(id));
      await channel.heard(tap(id), 'Done.');
      await channel.heard(tap(id), 'very long '.repeat(100));
    },
    ['tap'],
  ),
  answerTheQuery(
    'accepts a button press that was confirmed before or is too old',
    async ({ channel, chatId, tap, expireTaps }) => {
      const id = await channel.send(chatId, question, { buttons: yesNo });
      const first = tap(id);
      await channel.heard(first);
      await channel.heard(first);
      const second = tap(id);
      expireTaps();
      await channel.heard(second, 'Too late.');
    },
    ['tap'],
  ),
  typingThe('shows typing without sending a message', async ({ channel, chatId, seen }) => {
    await channel.typing(chatId);
    expectSame(seen().length, 0, 'messages');
  }),
  ...(['limit', 'blocked', 'gone', 'token', 'down', 'refused', 'cut', 'lost'] as const).map((fault) =>
    typingThe(
      `never rejects: ${fault}`,
      async ({ channel, chatId, meet, seen }) => {
        meet(fault);
        const answer = await channel.typing(chatId).then(
          () => 'resolved',
          () => 'rejected',
        );
        expectThat(answer === 'resolved', 'typing to resolve');
        expectSame(seen().length, 0, 'messages');
      },
      [fault],
    ),
  ),
];
