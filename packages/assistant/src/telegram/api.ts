import type { Runtime } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import { Api } from 'grammy/web';
import { caller } from './call.ts';

export interface TelegramApiOptions {
  /** What @BotFather gave out. Appears in no error and no log. */
  readonly token: string;
  /** Where the Bot API is served. Default `https://api.telegram.org`. */
  readonly apiRoot?: string;
  readonly runtime?: Runtime;
  /** How long a call may take, in milliseconds. Default 30 seconds. */
  readonly timeoutMs?: number;
}

/**
 * grammY's API with our own way of calling: through the runtime's fetch, once, with errors as `Channel` wants them.
 * grammY itself never gets to know the token.
 *
 * @throws AgentError `invalid` with code `no_token` when the token cannot be one.
 */
export function telegramApi(options: TelegramApiOptions): Api {
  const token = options.token.trim();
  if (!/^[\w-]+:[\w-]+$/.test(token))
    throw new AgentError({
      kind: 'invalid',
      code: 'no_token',
      message:
        'The token of the Telegram bot is missing or is none: @BotFather gives one out, such as 12345:AbC-d.',
    });
  const apiRoot = (options.apiRoot ?? 'https://api.telegram.org').replace(/\/+$/, '');
  const call = caller({
    token,
    apiRoot,
    runtime: options.runtime ?? systemRuntime,
    timeoutMs: options.timeoutMs ?? 30_000,
  });
  const api = new Api('hidden');
  api.config.use(async (_previous, method, payload, signal) => {
    const result = await call(method, payload, signal as AbortSignal | undefined);
    // What a method gives back is described by grammY's types and checked by none; what we rely on, we check.
    return { ok: true, result: result as never };
  });
  return api;
}

type GrammySignal = NonNullable<Parameters<Api['getMe']>[0]>;

/** grammY's types name the signal of a library; at run time it is handed through as it is. */
export function signalArgument(signal: AbortSignal | undefined): [] | [GrammySignal] {
  return signal === undefined ? [] : [signal as unknown as GrammySignal];
}
