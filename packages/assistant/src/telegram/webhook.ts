import { AgentError } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import type { TelegramApi } from './api.ts';
import { secretPattern } from './secret.ts';

/** The updates that `readUpdate` understands. */
export const wantedUpdates = ['message', 'callback_query'] as const;

/** Where updates are sent to, and how Telegram proves that they are its own. */
export interface WebhookOptions {
  /** Where Telegram sends updates to: https, on port 443, 80, 88 or 8443. */
  readonly url: string;
  /** Comes back with each update: 1 to 256 of A-Z, a-z, 0-9, _ and -. */
  readonly secret: string;
  /** Maximum concurrent deliveries of Telegram, 1 to 100. Default 40, as in Telegram. */
  readonly maxConnections?: number;
  /** Forgets what has not been delivered yet. Default false. */
  readonly dropPending?: boolean;
}

/**
 * Registers an address for updates of messages and button presses.
 *
 * @throws AgentError `invalid` when the address is not https or the secret is invalid; for calls see `Channel`.
 */
export async function setWebhook(api: TelegramApi, options: WebhookOptions): Promise<void> {
  const { url, secret, maxConnections, dropPending } = options;
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:')
    throw invalid('webhook_url', 'A webhook address must start with https://.');
  if (!secretPattern.test(secret))
    throw invalid('webhook_secret', 'The secret of a webhook has 1 to 256 letters, digits, _ and -.');
  if (
    maxConnections !== undefined &&
    !(Number.isInteger(maxConnections) && maxConnections >= 1 && maxConnections <= 100)
  )
    throw invalid('webhook_connections', 'A webhook delivers 1 to 100 updates at the same time.');
  await api.raw.setWebhook({
    url,
    secret_token: secret,
    allowed_updates: wantedUpdates,
    ...defined({ max_connections: maxConnections, drop_pending_updates: dropPending }),
  });
}

/** Takes the address back, so that updates can be fetched by `poll`. */
export async function deleteWebhook(
  api: TelegramApi,
  options: { readonly dropPending?: boolean } = {},
): Promise<void> {
  const { dropPending } = options;
  await api.raw.deleteWebhook({ ...defined({ drop_pending_updates: dropPending }) });
}

/**
 * Registers commands, so that Telegram offers them while a person types. Those from before are replaced.
 *
 * @throws AgentError as `Channel` says of calls.
 */
export async function setCommands(
  api: TelegramApi,
  commands: readonly { readonly name: string; readonly text: string }[],
): Promise<void> {
  await api.raw.setMyCommands({
    commands: commands.map(({ name, text }) => ({ command: name, description: text })),
  });
}

/** The bot's own user: verifies a token. */
export async function getMe(api: TelegramApi): Promise<{ readonly id: string; readonly name: string }> {
  const { id, username } = await api.raw.getMe();
  return { id: String(id), name: username };
}

function invalid(code: string, message: string): AgentError {
  return new AgentError({ kind: 'invalid', code, message });
}
