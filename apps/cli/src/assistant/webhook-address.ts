import { deleteWebhook, getMe, setWebhook } from '@cobbler/assistant/telegram';
import type { Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { AssistantFlags } from './assistant-flags.ts';
import { defaultPath } from './assistant-flags.ts';
import { assistantHome, webhookSecret } from './assistant-home.ts';
import { explainError, telegramAccess } from './telegram-access.ts';

/** Runs `cobbler assistant set-webhook`. An address without a path gets the path that `--webhook` serves. */
export async function setAddress(
  address: string | undefined,
  { path, apiRoot, place }: AssistantFlags,
  io: Io,
): Promise<number> {
  const url = URL.parse(address ?? '');
  if (url === null)
    throw new UsageError(
      'The webhook address is missing or is not a URL.',
      'For example: cobbler assistant set-webhook https://bot.example.org',
    );
  if (url.pathname === '/') url.pathname = path;
  const { api } = telegramAccess(io.env, apiRoot);
  const secret = webhookSecret(assistantHome(io.env, place), io.env);
  await refusalsExplained(() => setWebhook(api, { url: url.href, secret }));
  const { name } = await refusalsExplained(() => getMe(api));
  const other = url.pathname === defaultPath ? '' : ` --path ${url.pathname}`;
  io.stdout.write(
    `Telegram now sends the updates for @${name} to ${url.href}.\n` +
      `Serve the webhook here, behind a TLS proxy: cobbler assistant --webhook${other}\n`,
  );
  return 0;
}

/** Runs `cobbler assistant delete-webhook`. */
export async function takeAddressAway({ apiRoot }: AssistantFlags, io: Io): Promise<number> {
  const { api } = telegramAccess(io.env, apiRoot);
  await refusalsExplained(() => deleteWebhook(api));
  io.stdout.write('The webhook has been deleted. To receive updates by polling: cobbler assistant\n');
  return 0;
}

async function refusalsExplained<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    throw explainError(error);
  }
}
