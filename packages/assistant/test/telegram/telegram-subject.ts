import { fakeRuntime } from '@cobbler/agent/testing';
import { telegramChannel } from '../../src/telegram/index.ts';
import type {
  ChannelFault,
  ChannelScene,
  ChannelSubject,
  FakeFault,
  FakeTelegram,
} from '../../src/testing/index.ts';
import { fakeTelegram, readHtml } from '../../src/testing/index.ts';

const faults: Readonly<Record<ChannelFault, FakeFault>> = {
  markup: { type: 'markup' },
  limit: { type: 'limit', retryAfter: 7 },
  blocked: { type: 'blocked' },
  gone: { type: 'gone' },
  token: { type: 'unauthorized' },
  down: { type: 'unavailable' },
  refused: { type: 'refused' },
  cut: { type: 'cut' },
  lost: { type: 'lost' },
  timeout: { type: 'mute' },
};

/** The Telegram channel on the fake Bot API, for `channelContract`. */
export const telegramSubject: ChannelSubject = {
  name: 'telegram',
  longest: 4096,
  visible: (markup) => readHtml(markup).text,
  async open() {
    const runtime = fakeRuntime();
    const telegram = fakeTelegram({ token: '123456:contract-Token_1', runtime });
    const channel = telegramChannel({
      token: '123456:contract-Token_1',
      runtime: { ...runtime, fetch: telegram.fetch },
    });
    return { channel, ...otherEnd(telegram), pass: () => runtime.advance(31_000) };
  },
};

const person = 4711;

function otherEnd(telegram: FakeTelegram): Omit<ChannelScene, 'channel' | 'pass'> {
  telegram.say(person, '/start');
  return {
    chatId: String(person),
    seen: () =>
      telegram
        .messages(person)
        .filter(({ from }) => from === 'bot')
        .map(({ id, text, buttons, file, replyTo }) => ({
          id: String(id),
          text,
          buttons,
          ...(replyTo !== undefined && { replyTo: String(replyTo) }),
          ...(file !== undefined && { file: { name: file.name, text: file.text } }),
        })),
    meet: (fault) => telegram.fail('*', faults[fault]),
    sends: () =>
      telegram.calls.filter(({ method }) => method.startsWith('send') && method !== 'sendChatAction').length,
    tap(messageId) {
      const update = telegram.tap(person, Number(messageId), 'x');
      return String((update['callback_query'] as { id: string }).id);
    },
    expireTaps: () => telegram.forgetTaps(),
    remove: (messageId) => telegram.remove(person, Number(messageId)),
  };
}
