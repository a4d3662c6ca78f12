import type { Runtime } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import {
  callable,
  flag,
  optional,
  read,
  record,
  text,
  when,
  withArguments,
  withMethods,
} from '@cobbler/agent/input';
import type { FakeActions } from './fake-telegram/actions.ts';
import { actionsIn } from './fake-telegram/actions.ts';
import type { FakeCall } from './fake-telegram/bot-api.ts';
import { BotApi } from './fake-telegram/bot-api.ts';
import type { FakeMessage } from './fake-telegram/chats.ts';
import { FakeChats } from './fake-telegram/chats.ts';
import type { FakeDelivery, Post, WebhookDeliveryOptions } from './fake-telegram/deliver.ts';
import { deliverUpdates, readDelivery } from './fake-telegram/deliver.ts';
import type { FakeFault } from './fake-telegram/faults.ts';
import { BrokenConnection, readFault } from './fake-telegram/faults.ts';
import { readNumber, readTimes } from './fake-telegram/people.ts';
import type { FakeUpdate, FakeWebhook } from './fake-telegram/updates.ts';
import { FakeUpdates } from './fake-telegram/updates.ts';

/** Options of {@link fakeTelegram}: the bot, and where the fake is less strict than the real API. */
export interface FakeTelegramOptions {
  readonly token: string;
  /** Default: the real clock. */
  readonly runtime?: Runtime;
  readonly botName?: string;
  /** Accepts webhooks without TLS and on any port, unlike the real API. Default false. */
  readonly plainHttp?: boolean;
  /** Sends updates to the webhook. Default: the runtime's fetch. */
  readonly post?: Post;
}

/** A Bot API that rejects what the real one rejects, with its messages, and fails on demand. */
export interface FakeTelegram extends FakeActions {
  /** Handles requests to `/bot<token>/<method>`. Rejects where a connection would break. */
  readonly handler: (request: Request) => Promise<Response>;
  /** The handler as a fetch function, whose broken connections look like those of Node. */
  readonly fetch: typeof globalThis.fetch;
  readonly calls: readonly FakeCall[];
  readonly webhook: FakeWebhook | undefined;
  /** Updates that the bot has not received yet. */
  readonly pending: readonly FakeUpdate[];
  /** Confirmed button presses, with the text of each. */
  readonly heard: ReadonlyMap<string, string>;
  /** Returns the messages of both sides in the private chat with a user, oldest first. */
  messages(personId: number): readonly FakeMessage[];
  /** Returns the bot's messages in the private chat with a user. */
  replies(personId: number): string[];
  /** Makes earlier button presses too old to confirm. */
  forgetTaps(): void;
  block(personId: number): void;
  unblock(personId: number): void;
  /** Deletes the chat with a user. */
  forget(personId: number): void;
  /** Deletes a message as the user. */
  remove(personId: number, messageId: number): void;
  /** Makes the next calls of a method fail; `*` is any method. */
  fail(method: string, fault: FakeFault, times?: number): void;
  /** Delivers pending updates to the webhook, in order. */
  deliver(options?: WebhookDeliveryOptions): Promise<FakeDelivery[]>;
}

const readOptions = record<FakeTelegramOptions>(
  {
    token: text,
    runtime: withMethods('now', 'timer', 'fetch'),
    botName: text,
    plainHttp: flag,
    post: callable,
  },
  ['token'],
);

const readRequest = when<Request>((value) => value instanceof Request, 'a Request');

/**
 * Creates a Bot API for one bot.
 * @throws AgentError `invalid` for an invalid option.
 */
export function fakeTelegram(options: FakeTelegramOptions): FakeTelegram {
  const given = read(options, readOptions);
  const { token, runtime = systemRuntime, botName = 'cobbler_test_bot', plainHttp = false } = given;
  const { post = (request) => runtime.fetch(request) } = given;
  const bot = { id: Number(token.split(':')[0]), is_bot: true, first_name: 'Cobbler', username: botName };
  const chats = new FakeChats(() => Math.floor(runtime.now() / 1000));
  const updates = new FakeUpdates(runtime, plainHttp);
  const api = new BotApi({ token, runtime, bot, chats, updates });
  const handler = async (request: Request) => await api.handle(read(request, readRequest, 'request'));
  const telegram: FakeTelegram = {
    ...actionsIn(chats, updates, api, bot),
    handler,
    fetch: fetchOf(handler),
    calls: api.calls,
    heard: api.heard,
    get webhook() {
      return updates.webhook;
    },
    get pending() {
      return updates.pending;
    },
    messages: (personId) => chats.messages(personId),
    replies: (personId) =>
      chats
        .messages(personId)
        .filter(({ from }) => from === 'bot')
        .map(({ text }) => text),
    forgetTaps: () => api.forgetTaps(),
    block: (personId) => chats.block(personId, true),
    unblock: (personId) => chats.block(personId, false),
    forget: (personId) => chats.delete(personId),
    remove: (personId, messageId) => chats.remove(personId, messageId),
    fail: (method, fault, times = 1) => api.fail(method, fault, times),
    async deliver(delivery = {}) {
      const { webhook } = updates;
      if (webhook === undefined)
        throw new AgentError({
          kind: 'invalid',
          code: 'webhook_url',
          message: 'No webhook is set: call setWebhook first.',
        });
      return await deliverUpdates(updates, webhook, post, delivery);
    },
  };
  withArguments(telegram, { deliver: { options: optional(readDelivery) } });
  const personId = readNumber;
  return withArguments(
    telegram,
    {
      messages: { personId },
      replies: { personId },
      block: { personId },
      unblock: { personId },
      forget: { personId },
      remove: { personId, messageId: readNumber },
      fail: { method: text, fault: readFault, times: optional(readTimes) },
    },
    false,
  );
}

/**
 * Returns the handler as a fetch function. Node's error messages for broken connections contain no address, but those
 * of other runtimes do, so these do as well.
 */
function fetchOf(handler: (request: Request) => Promise<Response>): typeof globalThis.fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    // The handler may wait indefinitely, but a fetch ends when it is aborted.
    const aborted = Promise.withResolvers<never>();
    const onAbort = () => aborted.reject(request.signal.reason);
    if (request.signal.aborted) onAbort();
    request.signal.addEventListener('abort', onAbort, { once: true });
    try {
      return await Promise.race([handler(request), aborted.promise]);
    } catch (error) {
      if (!(error instanceof BrokenConnection)) throw error;
      const cause = Object.assign(new Error(`request to ${request.url} failed`), { code: error.code });
      throw new TypeError(`fetch failed: ${request.url}`, { cause });
    } finally {
      request.signal.removeEventListener('abort', onAbort);
    }
  };
}
