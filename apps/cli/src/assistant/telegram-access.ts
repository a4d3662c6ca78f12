import { AgentError } from '@cobbler/agent';
import { telegramApi } from '@cobbler/assistant/telegram';
import type { Environment } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';

export type TelegramApi = ReturnType<typeof telegramApi>;

/** The bot as the environment names it. */
export interface TelegramAccess {
  readonly token: string;
  readonly api: TelegramApi;
}

/** @throws UsageError without a token, or for one that cannot be one. */
export function telegramAccess(env: Environment, apiRoot: string | undefined): TelegramAccess {
  const token = env['TELEGRAM_BOT_TOKEN']?.trim() ?? '';
  if (token === '')
    throw new UsageError(
      'There is no token of a bot: TELEGRAM_BOT_TOKEN is not set.',
      'Write /newbot to @BotFather in Telegram, then: export TELEGRAM_BOT_TOKEN=...',
      'Try it without Telegram: cobbler assistant --local',
    );
  try {
    return { token, api: telegramApi({ token, ...(apiRoot !== undefined && { apiRoot }) }) };
  } catch {
    throw new UsageError(
      'TELEGRAM_BOT_TOKEN holds no token.',
      'One looks like 12345678:AbCdEf-g. @BotFather shows that of your bot: /mybots, then API Token.',
    );
  }
}

/**
 * The people who may speak with the bot, by their numbers.
 * @throws UsageError for what is no number: names are no identity, they can change hands.
 */
export function allowedUsers(env: Environment): ReadonlySet<string> {
  const entries = (env['TELEGRAM_ALLOWED_USERS'] ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  const wrong = entries.find((entry) => !/^[1-9]\d{0,15}$/.test(entry));
  if (wrong === undefined) return new Set(entries);
  throw new UsageError(
    `TELEGRAM_ALLOWED_USERS names ${JSON.stringify(wrong)}, which is no number of a person.`,
    'Numbers, separated by commas. Start the bot and write to it: its log shows yours.',
  );
}

/** What Telegram refuses for good, with what to do about it. */
export function explained(error: unknown): unknown {
  if (!AgentError.is(error)) return error;
  const { kind, code, message } = error;
  if (kind === 'auth')
    return new UsageError(
      'Telegram does not know this token.',
      'Look it up at @BotFather: /mybots, then API Token.',
    );
  if (code === 'webhook_set')
    return new UsageError(
      'This bot has a webhook, so its updates cannot be fetched from here.',
      'Serve the webhook: cobbler assistant --webhook   or take it away: cobbler assistant delete-webhook',
    );
  if (code === 'other_poller')
    return new UsageError(
      'Another program fetches the updates of this bot: Telegram lets only one do so.',
      'Stop that one. If you do not know it, let @BotFather give you a new token: /revoke.',
    );
  return kind === 'network' || kind === 'timeout' || kind === 'rate_limit' || kind === 'invalid'
    ? new UsageError(message)
    : error;
}
