import { AgentError } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import type { TelegramApi } from '@cobbler/assistant/telegram';
import { telegramApi } from '@cobbler/assistant/telegram';
import type { Environment } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** The bot's access data from the environment. */
export interface TelegramAccess {
  readonly token: string;
  readonly api: TelegramApi;
}

/** Reads the bot's access data from the environment. @throws UsageError if the token is missing or malformed. */
export function telegramAccess(env: Environment, apiRoot: string | undefined): TelegramAccess {
  const token = env['TELEGRAM_BOT_TOKEN']?.trim() ?? '';
  if (token === '')
    throw new UsageError(
      'The bot token is missing: TELEGRAM_BOT_TOKEN is not set.',
      'Send /newbot to @BotFather in Telegram, then: export TELEGRAM_BOT_TOKEN=...',
      'Try it without Telegram: cobbler assistant --local',
    );
  try {
    return { token, api: telegramApi({ token, ...defined({ apiRoot }) }) };
  } catch {
    throw new UsageError(
      'TELEGRAM_BOT_TOKEN does not contain a bot token.',
      'A token looks like 12345678:AbCdEf-g. @BotFather shows yours: /mybots, then API Token.',
    );
  }
}

/**
 * Returns the ids of the users who may use the bot.
 * @throws UsageError for anything but a number, because user names can change owner.
 */
export function allowedUsers(env: Environment): ReadonlySet<string> {
  return usersIn(env, 'TELEGRAM_ALLOWED_USERS');
}

/** Returns the ids of the users who can let a budget spend more. Throws like {@link allowedUsers}. */
export function adminUsers(env: Environment): ReadonlySet<string> {
  return usersIn(env, 'TELEGRAM_ADMIN_USERS');
}

function usersIn(env: Environment, name: string): ReadonlySet<string> {
  const entries = (env[name] ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  const wrong = entries.find((entry) => !/^[1-9]\d{0,15}$/.test(entry));
  if (wrong === undefined) return new Set(entries);
  throw new UsageError(
    `${name} contains ${JSON.stringify(wrong)}, which is not a user id.`,
    'Use numbers, separated by commas. To find your id, start the bot and send it a message: the log shows the id.',
  );
}

/** Converts a permanent Telegram error to one that says how to fix it; returns other errors unchanged. */
export function explainError(error: unknown): unknown {
  if (!AgentError.is(error)) return error;
  const { kind, code, message } = error;
  if (kind === 'auth')
    return new UsageError(
      'Telegram rejected this token.',
      'Copy the current token from @BotFather: /mybots, then API Token.',
    );
  if (code === 'webhook_set')
    return new UsageError(
      'This bot has a webhook, so its updates cannot be fetched by polling.',
      'To receive updates at the webhook, run: cobbler assistant --webhook. To delete the webhook, run: cobbler assistant delete-webhook',
    );
  if (code === 'other_poller')
    return new UsageError(
      "Another program is receiving this bot's updates. Telegram allows only one at a time.",
      'Stop that program. If you cannot find it, revoke the token: send /revoke to @BotFather.',
    );
  return kind === 'network' || kind === 'timeout' || kind === 'rate_limit' || kind === 'invalid'
    ? new UsageError(message)
    : error;
}
