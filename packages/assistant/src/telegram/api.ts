import type { Runtime } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import type { Reader, Readers } from '@cobbler/agent/input';
import { amount, read, record, text, when, withMethods } from '@cobbler/agent/input';
import { isObject } from '@cobbler/agent/provider';
import type { ApiMethods } from '@grammyjs/types';
import { caller } from './call.ts';

/** Options of {@link telegramApi}: the bot and the address of the Bot API. */
export interface TelegramApiOptions {
  /** The token from `@BotFather`. Never part of an error or a log. */
  readonly token: string;
  /** Address of the Bot API. Default `https://api.telegram.org`. */
  readonly apiRoot?: string;
  readonly runtime?: Runtime;
  /** Time limit for a call, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number;
}

/** The readers of {@link TelegramApiOptions}. */
export const apiReaders: Readers<TelegramApiOptions> = {
  token: text,
  apiRoot: text,
  runtime: withMethods('timer', 'fetch'),
  timeoutMs: amount,
};

const readOptions = record<TelegramApiOptions>(apiReaders, ['token']);

type Methods = ApiMethods<File>;

/** Properties that JavaScript reads from any object. Awaiting or serializing the API must not become a call. */
const askedOfEverything: ReadonlySet<string> = new Set([
  'then',
  'toJSON',
  ...Object.getOwnPropertyNames(Object.prototype),
]);

/** Every method of the Bot API under its own name. grammY's types describe the results, but results are not validated. */
export type TelegramMethods = {
  readonly [Name in keyof Methods]: (
    ...given: [...Parameters<Methods[Name]>, signal?: AbortSignal]
  ) => Promise<ReturnType<Methods[Name]>>;
};

/** The Bot API for one bot. */
export interface TelegramApi {
  readonly raw: TelegramMethods;
}

const hasMethods = when<TelegramMethods>(
  (value) => isObject(value) && typeof value['getMe'] === 'function',
  'the methods of the Bot API',
);

/** Reads a Bot API. */
export const readApi: Reader<TelegramApi> = record<TelegramApi>(
  { raw: hasMethods },
  ['raw'],
  'an API created by telegramApi',
);

/**
 * Creates a Bot API that makes each call once, through the runtime's fetch, and reports errors as `Channel` requires.
 *
 * @throws AgentError `invalid` with code `no_bot_token` if the token is malformed.
 */
export function telegramApi(options: TelegramApiOptions): TelegramApi {
  const given = read(options, readOptions);
  const token = given.token.trim();
  if (!/^[\w-]+:[\w-]+$/.test(token)) {
    const message =
      'The Telegram bot token is missing or malformed. Get one from @BotFather; it looks like 12345:AbC-d.';
    throw new AgentError({ kind: 'invalid', code: 'no_bot_token', message });
  }
  const apiRoot = (given.apiRoot ?? 'https://api.telegram.org').replace(/\/+$/, '');
  const call = caller({
    token,
    apiRoot,
    runtime: given.runtime ?? systemRuntime,
    timeoutMs: given.timeoutMs ?? 30_000,
  });
  const method = (name: string) => (payload?: object, signal?: AbortSignal) =>
    payload instanceof AbortSignal ? call(name, {}, payload) : call(name, payload ?? {}, signal);
  const raw = new Proxy(
    {},
    {
      get: (plain, name) =>
        typeof name === 'symbol' || askedOfEverything.has(name) ? Reflect.get(plain, name) : method(name),
    },
  );
  return { raw: raw as TelegramMethods };
}
