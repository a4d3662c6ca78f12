import { AgentError } from '@cobbler/agent';
import { flag, listOf, read, record, text, when } from '@cobbler/agent/input';
import { defined } from '@cobbler/agent/values';
import type { TelegramApi } from './api.ts';
import { readApi } from './api.ts';
import { secretPattern } from './secret.ts';

/** Types of updates that `readUpdate` supports. */
export const wantedUpdates = ['message', 'callback_query'] as const;

/** Options of {@link setWebhook}. */
export interface WebhookOptions {
  /** Address that Telegram sends updates to: https, on port 443, 80, 88 or 8443. */
  readonly url: string;
  /** Secret that Telegram includes in each update: 1 to 256 of A-Z, a-z, 0-9, _ and -. */
  readonly secret: string;
  /** Maximum number of concurrent deliveries by Telegram, 1 to 100. Default 40, as in Telegram. */
  readonly maxConnections?: number;
  /** True to discard updates that have not been delivered yet. Default false. */
  readonly dropPending?: boolean;
}

const readOptions = record<WebhookOptions>(
  {
    url: text,
    secret: text,
    maxConnections: when(
      (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 100,
      '1 to 100 connections',
    ),
    dropPending: flag,
  },
  ['url', 'secret'],
);

const readDelete = record<{ readonly dropPending?: boolean }>({ dropPending: flag });

const readCommands = listOf(
  record<{ readonly name: string; readonly text: string }>({ name: text, text }, ['name', 'text']),
);

/**
 * Registers an address for updates of messages and button presses.
 *
 * @throws AgentError `invalid` if the address is not https or the secret is invalid; for calls see `Channel`.
 */
export async function setWebhook(api: TelegramApi, options: WebhookOptions): Promise<void> {
  const { raw } = read(api, readApi, 'api');
  const { url, secret, maxConnections, dropPending } = read(options, readOptions);
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:')
    throw invalid('webhook_url', 'A webhook address must start with https://.');
  if (!secretPattern.test(secret))
    throw invalid(
      'webhook_secret',
      'The webhook secret is invalid. Use 1 to 256 characters: letters, digits, "_" and "-".',
    );
  await raw.setWebhook({
    url,
    secret_token: secret,
    allowed_updates: wantedUpdates,
    ...defined({ max_connections: maxConnections, drop_pending_updates: dropPending }),
  });
}

/** Removes the webhook, so that `poll` can fetch updates. */
export async function deleteWebhook(
  api: TelegramApi,
  options: { readonly dropPending?: boolean } = {},
): Promise<void> {
  const { raw } = read(api, readApi, 'api');
  const { dropPending } = read(options, readDelete);
  await raw.deleteWebhook({ ...defined({ drop_pending_updates: dropPending }) });
}

/**
 * Registers commands, so that Telegram suggests them while a user types. They replace earlier ones.
 *
 * @throws AgentError like the calls of `Channel`.
 */
export async function setCommands(
  api: TelegramApi,
  commands: readonly { readonly name: string; readonly text: string }[],
): Promise<void> {
  const { raw } = read(api, readApi, 'api');
  const given = read(commands, readCommands, 'commands');
  await raw.setMyCommands({
    commands: given.map(({ name, text }) => ({ command: name, description: text })),
  });
}

/** Returns the bot's own user, which verifies the token. */
export async function getMe(api: TelegramApi): Promise<{ readonly id: string; readonly name: string }> {
  const { id, username } = await read(api, readApi, 'api').raw.getMe();
  return { id: String(id), name: username };
}

function invalid(code: string, message: string): AgentError {
  return new AgentError({ kind: 'invalid', code, message });
}
