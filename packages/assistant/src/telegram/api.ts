import type { Runtime } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import type { ApiMethods } from '@grammyjs/types';
import { caller } from './call.ts';

/** Which bot speaks, and to which Bot API. */
export interface TelegramApiOptions {
  /** The token from `@BotFather`. Never part of an error or a log. */
  readonly token: string;
  /** Where the Bot API is served. Default `https://api.telegram.org`. */
  readonly apiRoot?: string;
  readonly runtime?: Runtime;
  /** Time limit for a call, in milliseconds. Default 30 seconds. */
  readonly timeoutMs?: number;
}

type Methods = ApiMethods<File>;

/** Properties that the language reads from any object. Awaiting or serializing the API must not become a call. */
const askedOfEverything: ReadonlySet<string> = new Set([
  'then',
  'toJSON',
  ...Object.getOwnPropertyNames(Object.prototype),
]);

/**
 * Every method of the Bot API under its own name. What a method gives back is described by grammY's types and checked
 * by none of them.
 */
export type TelegramMethods = {
  readonly [Name in keyof Methods]: (
    ...given: [...Parameters<Methods[Name]>, signal?: AbortSignal]
  ) => Promise<ReturnType<Methods[Name]>>;
};

/** The Bot API, as one bot calls it. */
export interface TelegramApi {
  readonly raw: TelegramMethods;
}

/**
 * The Bot API with our own way of calling: through the runtime's fetch, once, with errors as `Channel` wants them.
 *
 * @throws AgentError `invalid` with code `no_bot_token` when the token cannot be one.
 */
export function telegramApi(options: TelegramApiOptions): TelegramApi {
  const token = options.token.trim();
  if (!/^[\w-]+:[\w-]+$/.test(token))
    throw new AgentError({
      kind: 'invalid',
      code: 'no_bot_token',
      message:
        'The Telegram bot token is missing or malformed. Get one from @BotFather; it looks like 12345:AbC-d.',
    });
  const apiRoot = (options.apiRoot ?? 'https://api.telegram.org').replace(/\/+$/, '');
  const call = caller({
    token,
    apiRoot,
    runtime: options.runtime ?? systemRuntime,
    timeoutMs: options.timeoutMs ?? 30_000,
  });
  const method = (name: string) => (given?: object, signal?: AbortSignal) =>
    given instanceof AbortSignal ? call(name, {}, given) : call(name, given ?? {}, signal);
  const raw = new Proxy(
    {},
    {
      get: (plain, name) =>
        typeof name === 'symbol' || askedOfEverything.has(name) ? Reflect.get(plain, name) : method(name),
    },
  );
  return { raw: raw as TelegramMethods };
}
