import type { MessagePart } from '../../channel/channel.ts';
import { maxNoteLength } from '../../channel/channel.ts';
import type { ChannelCase, ExpectedError } from './cases.ts';
import { expectFailure, expectSame, expectThat, group } from './cases.ts';
import type { ChannelFault } from './stand.ts';

const the = group('send');

const hello: MessagePart = { text: 'hello' };
const file = { name: 'messages.jsonl', type: 'application/x-ndjson', text: '{"a":"é"}\n{"b":2}\n' };

/** One that has markup where the channel has any. */
function formatted(pieces: readonly MessagePart[]): MessagePart {
  return pieces[0] ?? hello;
}

const tellings: readonly [ChannelFault, string, ExpectedError][] = [
  [
    'limit',
    'too many messages is rate_limit with the time to wait',
    { kinds: ['rate_limit'], retryable: true, retryAfterMs: 7000 },
  ],
  [
    'blocked',
    'a person who has blocked the bot is chat_gone',
    { kinds: ['invalid'], code: 'chat_gone', retryable: false },
  ],
  [
    'gone',
    'a chat that is no more is chat_gone',
    { kinds: ['invalid'], code: 'chat_gone', retryable: false },
  ],
  ['token', 'a wrong token is auth', { kinds: ['auth'], code: 'bot_token', retryable: false }],
  ['down', 'a service that is down may be tried again', { kinds: ['network', 'agent'], retryable: true }],
  [
    'refused',
    'a connection that never came about may be tried again',
    { kinds: ['network'], retryable: true },
  ],
];

const doubts: readonly [ChannelFault, string][] = [
  ['cut', 'a connection that breaks before the answer is maybe_sent'],
  ['lost', 'an answer that is lost after the message was taken is maybe_sent'],
];

export const sendCases: readonly ChannelCase[] = [
  the('a piece becomes one message, and its id comes back', async ({ channel, chatId, seen }) => {
    const id = await channel.send(chatId, hello);
    expectSame(
      seen().map((message) => [message.id, message.text]),
      [[id, 'hello']],
      'the chat',
    );
    expectThat(id !== '', 'an id');
  }),
  the('each message has an id of its own', async ({ channel, chatId }) => {
    const ids = new Set<string>();
    for (let count = 0; count < 5; count += 1) ids.add(await channel.send(chatId, hello));
    expectSame(ids.size, 5, 'different ids');
  }),
  the('messages stand in the order in which they were sent', async ({ channel, chatId, seen }) => {
    for (const text of ['a', 'b', 'c']) await channel.send(chatId, { text });
    expectSame(
      seen().map(({ text }) => text),
      ['a', 'b', 'c'],
      'the chat',
    );
  }),
  the('one call is one try', async ({ channel, chatId, sends }) => {
    const before = sends();
    await channel.send(chatId, hello);
    expectSame(sends() - before, 1, 'tries');
  }),
  the(
    'markup that is refused gives way to the plain text, once',
    async ({ channel, chatId, meet, seen, sends }) => {
      meet('markup');
      const piece = formatted(channel.pieces('**bold**'));
      await channel.send(chatId, piece);
      expectSame(
        seen().map(({ text }) => text),
        [piece.text],
        'the chat',
      );
      expectSame(sends(), 2, 'tries');
    },
    ['markup'],
  ),
  the('a text that looks like markup arrives as it is', async ({ channel, chatId, seen }) => {
    const text = '<b>1 < 2 && "x" > &amp; *y* _z_ `';
    await channel.send(chatId, { text });
    expectSame(
      seen().map((message) => message.text),
      [text],
      'the chat',
    );
  }),
  the('a note stands above the text, also of the longest piece', async ({ channel, chatId, seen }) => {
    const note = `Is <this> a *repeat*? ${'x'.repeat(maxNoteLength)}`.slice(0, maxNoteLength);
    const pieces = [
      hello,
      ...channel.pieces('**bold**'),
      ...channel.pieces('word '.repeat(2000)).slice(0, 1),
    ];
    for (const piece of pieces) await channel.send(chatId, piece, { note });
    expectSame(
      seen().map(({ text }) => text),
      pieces.map(({ text }) => `${note}\n\n${text}`),
      'the chat',
    );
  }),
  the('a message can reply to another, and names it', async ({ channel, chatId, seen }) => {
    const replyTo = await channel.send(chatId, hello);
    await channel.send(chatId, { text: 'again' }, { replyTo });
    await channel.sendFile(chatId, file, { replyTo });
    expectSame(
      seen().map((message) => message.replyTo ?? null),
      [null, replyTo, replyTo],
      'what they reply to',
    );
  }),
  the(
    'a reply to a message that no longer exists is sent all the same',
    async ({ channel, chatId, seen, remove }) => {
      const replyTo = await channel.send(chatId, hello);
      remove(replyTo);
      await channel.send(chatId, { text: 'again' }, { replyTo });
      expectSame(
        seen().map(({ text }) => text),
        ['again'],
        'the chat',
      );
    },
    ['remove'],
  ),
  the('a file arrives with its name, whole', async ({ channel, chatId, seen }) => {
    const id = await channel.sendFile(chatId, file);
    const [message] = seen();
    expectSame(
      [message?.id, message?.file?.name, message?.file?.text],
      [id, file.name, file.text],
      'the file',
    );
  }),
  the('what was cancelled before it began is aborted, and not sent', async ({ channel, chatId, seen }) => {
    const signal = AbortSignal.abort();
    const wanted: ExpectedError = { kinds: ['aborted'], retryable: false };
    await expectFailure(channel.send(chatId, hello, { signal }), wanted);
    await expectFailure(channel.sendFile(chatId, file, { signal }), wanted);
    expectSame(seen().length, 0, 'messages');
  }),
  the(
    'what was cancelled on its way is maybe_sent',
    async ({ channel, chatId, meet }) => {
      meet('timeout');
      const control = new AbortController();
      const call = channel.send(chatId, hello, { signal: control.signal });
      call.catch(() => {});
      await Promise.resolve();
      control.abort();
      await expectFailure(call, { kinds: ['aborted'], code: 'maybe_sent', retryable: false });
    },
    ['timeout'],
  ),
  the(
    'an answer that does not come in time is maybe_sent, and not tried again',
    async ({ channel, chatId, meet, pass, sends }) => {
      meet('timeout');
      const call = channel.send(chatId, hello);
      call.catch(() => {});
      await pass();
      await expectFailure(call, { kinds: ['timeout', 'network'], code: 'maybe_sent', retryable: false });
      expectSame(sends(), 1, 'tries');
    },
    ['timeout'],
  ),
  ...tellings.map(([fault, name, wanted]) =>
    the(
      `${name}, tried once, and nothing was sent`,
      async ({ channel, chatId, meet, seen, sends }) => {
        meet(fault);
        await expectFailure(channel.send(chatId, formatted(channel.pieces('**bold**'))), wanted);
        expectSame(seen().length, 0, 'messages');
        expectSame(sends(), 1, 'tries');
      },
      [fault],
    ),
  ),
  ...doubts.map(([fault, name]) =>
    the(
      `${name}, and not tried again`,
      async ({ channel, chatId, meet, sends }) => {
        meet(fault);
        await expectFailure(channel.send(chatId, formatted(channel.pieces('**bold**'))), {
          kinds: ['network'],
          code: 'maybe_sent',
          retryable: false,
        });
        expectSame(sends(), 1, 'tries');
      },
      [fault],
    ),
  ),
  the(
    'a file whose answer is lost is maybe_sent too',
    async ({ channel, chatId, meet }) => {
      meet('lost');
      await expectFailure(channel.sendFile(chatId, file), {
        kinds: ['network'],
        code: 'maybe_sent',
        retryable: false,
      });
    },
    ['lost'],
  ),
  the(
    'a failure does no harm to the next message',
    async ({ channel, chatId, meet, seen }) => {
      meet('limit');
      await channel.send(chatId, hello).catch(() => {});
      await channel.send(chatId, { text: 'again' });
      expectSame(
        seen().map(({ text }) => text),
        ['again'],
        'the chat',
      );
    },
    ['limit'],
  ),
];
