import type { MessagePart } from '../../channel/channel.ts';
import { maxNoteLength } from '../../channel/channel.ts';
import type { ChannelCase, ExpectedError } from './case.ts';
import { expectFailure, expectSame, expectThat, group } from './case.ts';
import type { ChannelFault } from './stand.ts';

const the = group('send');

const hello: MessagePart = { text: 'hello' };
const file = { name: 'messages.jsonl', type: 'application/x-ndjson', text: '{"a":"é"}\n{"b":2}\n' };

/** Returns a part with markup, if the channel has any. */
function formatted(parts: readonly MessagePart[]): MessagePart {
  return parts[0] ?? hello;
}

const tellings: readonly [ChannelFault, string, ExpectedError][] = [
  [
    'limit',
    'reports rate_limit with the delay for too many messages',
    { kinds: ['rate_limit'], retryable: true, retryAfterMs: 7000 },
  ],
  [
    'blocked',
    'reports chat_gone if the user has blocked the bot',
    { kinds: ['invalid'], code: 'chat_gone', retryable: false },
  ],
  [
    'gone',
    'reports chat_gone for a chat that no longer exists',
    { kinds: ['invalid'], code: 'chat_gone', retryable: false },
  ],
  ['token', 'reports auth for an invalid token', { kinds: ['auth'], code: 'bot_token', retryable: false }],
  ['down', 'reports an unavailable service as retryable', { kinds: ['network', 'agent'], retryable: true }],
  ['refused', 'reports a refused connection as retryable', { kinds: ['network'], retryable: true }],
];

const doubts: readonly [ChannelFault, string][] = [
  ['cut', 'reports maybe_sent if the connection breaks before the response'],
  ['lost', 'reports maybe_sent if the response is lost after the message was accepted'],
];

export const sendCases: readonly ChannelCase[] = [
  the('sends a part as one message and returns its id', async ({ channel, chatId, seen }) => {
    const id = await channel.send(chatId, hello);
    expectSame(
      seen().map((message) => [message.id, message.text]),
      [[id, 'hello']],
      'the chat',
    );
    expectThat(id !== '', 'an id');
  }),
  the('returns a different id for each message', async ({ channel, chatId }) => {
    const ids = new Set<string>();
    for (let count = 0; count < 5; count += 1) ids.add(await channel.send(chatId, hello));
    expectSame(ids.size, 5, 'different ids');
  }),
  the('keeps the order of messages', async ({ channel, chatId, seen }) => {
    for (const text of ['a', 'b', 'c']) await channel.send(chatId, { text });
    expectSame(
      seen().map(({ text }) => text),
      ['a', 'b', 'c'],
      'the chat',
    );
  }),
  the('makes one attempt per call', async ({ channel, chatId, sends }) => {
    const before = sends();
    await channel.send(chatId, hello);
    expectSame(sends() - before, 1, 'tries');
  }),
  the(
    'sends plain text once if the markup is rejected',
    async ({ channel, chatId, meet, seen, sends }) => {
      meet('markup');
      const part = formatted(channel.pieces('**bold**'));
      await channel.send(chatId, part);
      expectSame(
        seen().map(({ text }) => text),
        [part.text],
        'the chat',
      );
      expectSame(sends(), 2, 'tries');
    },
    ['markup'],
  ),
  the('sends text that looks like markup unchanged', async ({ channel, chatId, seen }) => {
    const text = '<b>1 < 2 && "x" > &amp; *y* _z_ `';
    await channel.send(chatId, { text });
    expectSame(
      seen().map((message) => message.text),
      [text],
      'the chat',
    );
  }),
  the('shows a note above the text, even of the longest part', async ({ channel, chatId, seen }) => {
    const note = `Is <this> a *repeat*? ${'x'.repeat(maxNoteLength)}`.slice(0, maxNoteLength);
    const parts = [hello, ...channel.pieces('**bold**'), ...channel.pieces('word '.repeat(2000)).slice(0, 1)];
    for (const part of parts) await channel.send(chatId, part, { note });
    expectSame(
      seen().map(({ text }) => text),
      parts.map(({ text }) => `${note}\n\n${text}`),
      'the chat',
    );
  }),
  the('sends a message as a reply to another one', async ({ channel, chatId, seen }) => {
    const replyTo = await channel.send(chatId, hello);
    await channel.send(chatId, { text: 'again' }, { replyTo });
    await channel.sendFile(chatId, file, { replyTo });
    expectSame(
      seen().map((message) => message.replyTo ?? null),
      [null, replyTo, replyTo],
      'the ids of the messages that they reply to',
    );
  }),
  the(
    'sends a reply to a message that no longer exists',
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
  the('sends a complete file with its name', async ({ channel, chatId, seen }) => {
    const id = await channel.sendFile(chatId, file);
    const [message] = seen();
    expectSame(
      [message?.id, message?.file?.name, message?.file?.text],
      [id, file.name, file.text],
      'the file',
    );
  }),
  the(
    'sends nothing and reports aborted if it was cancelled before the start',
    async ({ channel, chatId, seen }) => {
      const signal = AbortSignal.abort();
      const wanted: ExpectedError = { kinds: ['aborted'], retryable: false };
      await expectFailure(channel.send(chatId, hello, { signal }), wanted);
      await expectFailure(channel.sendFile(chatId, file, { signal }), wanted);
      expectSame(seen().length, 0, 'messages');
    },
  ),
  the(
    'reports maybe_sent if it was cancelled while sending',
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
    'reports maybe_sent after a timeout, without a retry',
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
      `${name}, after one attempt that sent nothing`,
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
      `${name}, without a retry`,
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
    'reports maybe_sent if the response to a file is lost',
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
    'sends the next message after a failure',
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
