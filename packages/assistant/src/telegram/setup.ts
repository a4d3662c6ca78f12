import { AgentError } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import type { TelegramApi } from './api.ts';
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

/**
 * Registers an address for updates of messages and button presses.
 *
 * @throws AgentError `invalid` if the address is not https or the secret is invalid; for calls see `Channel`.
 */
export async function setWebhook(api: TelegramApi, options: WebhookOptions): Promise<void> {
  const { url, secret, maxConnections, dropPending } = options;
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:')
    throw invalid('webhook_url', 'A webhook address must start with https://.');
  if (!secretPattern.test(secret))
    throw invalid('webhook_secret', 'The webhook secret is invalid. Use 1 to 256 letters, digits, _ and -.');
  if (
    maxConnections !== undefined &&
    !(Number.isInteger(maxConnections) && maxConnections >= 1 && maxConnections <= 100)
  )
    throw invalid(
      'webhook_connections',
      `The number of concurrent webhook deliveries must be 1 to 100; it is ${maxConnections}.`,
    );
  await api.raw.setWebhook({
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
  const { dropPending } = options;
  await api.raw.deleteWebhook({ ...defined({ drop_pending_updates: dropPending }) });
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
  await api.raw.setMyCommands({
    commands: commands.map(({ name, text }) => ({ command: name, description: text })),
  });
}

/** Returns the bot's own user, which verifies the token. */
export async function getMe(api: TelegramApi): Promise<{ readonly id: string; readonly name: string }> {
  const { id, username } = await api.raw.getMe();
  return { id: String(id), name: username };
}

function invalid(code: string, message: string): AgentError {
  return new AgentError({ kind: 'invalid', code, message });
}
