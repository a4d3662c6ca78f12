import { AgentError } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import { commandList } from '@cobbler/assistant';
import { getMe, poll, readUpdate, setCommands, telegramChannel } from '@cobbler/assistant/telegram';
import type { Io } from '../terminal/io.ts';
import type { AssistantFlags } from './assistant-flags.ts';
import { assistantHome, webhookSecret } from './assistant-home.ts';
import type { UpdateHandler } from './bot.ts';
import { botLog, intake, openBot, pruneDaily } from './bot.ts';
import type { BotLog } from './bot-log.ts';
import type { TelegramAccess } from './telegram-access.ts';
import { allowedUsers, explainError, telegramAccess } from './telegram-access.ts';
import { serveWebhook } from './webhook-endpoint.ts';

/** Runs a bot on Telegram until the signal aborts. */
export async function runBot(flags: AssistantFlags, io: Io, signal: AbortSignal): Promise<void> {
  const telegram = telegramAccess(io.env, flags.apiRoot);
  const allowed = allowedUsers(io.env);
  const home = assistantHome(io.env, flags.place);
  const secret = flags.isWebhook ? webhookSecret(home, io.env) : '';
  const log = botLog(flags, [telegram.token, secret], io);
  const channel = telegramChannel({ token: telegram.token, api: telegram.api });
  const { opened, close, facts } = await openBot(flags, { io, channel, log });
  try {
    const botName = await nameOf(telegram, log);
    await offerCommands(telegram, log);
    log.note('info', 'ready', { bot: botName, ...facts, allowed: allowed.size });
    if (allowed.size === 0) {
      const advice =
        'every user is ignored until you set TELEGRAM_ALLOWED_USERS; this log shows the ids of senders';
      log.note('warn', advice);
    }
    const takeIn = intake(opened, log, (update) => readUpdate(update, { allowed, ...defined({ botName }) }));
    const endPruning = pruneDaily(opened, { log, io });
    if (flags.isWebhook) await serveUntil(signal, flags, { secret, takeIn, log });
    else await pollUntil(signal, telegram, { takeIn, log });
    endPruning();
    log.note('info', 'stopped');
  } catch (error) {
    throw explainError(error);
  } finally {
    await close();
  }
}

/** Returns the bot's name. Without a network the bot starts anyway and connects later; an invalid token is an error. */
async function nameOf({ api }: TelegramAccess, log: BotLog): Promise<string | undefined> {
  try {
    return (await getMe(api)).name;
  } catch (error) {
    const { kind, message } = AgentError.from(error);
    if (kind === 'auth') throw error;
    log.note('warn', 'Telegram is not responding yet', { why: message });
    return undefined;
  }
}

/** Registers the commands at each start, because Telegram keeps the list of an older version. Works without the list. */
async function offerCommands({ api }: TelegramAccess, log: BotLog): Promise<void> {
  try {
    await setCommands(api, commandList);
  } catch (error) {
    log.note('warn', 'could not register the commands', { why: AgentError.from(error).message });
  }
}

interface BotContext {
  readonly takeIn: UpdateHandler;
  readonly log: BotLog;
}

async function pollUntil(
  signal: AbortSignal,
  { api }: TelegramAccess,
  { takeIn, log }: BotContext,
): Promise<void> {
  await poll({
    api,
    signal,
    onUpdate: async (update) => void (await takeIn(update)),
    onTrouble: ({ kind, message }) => log.note('warn', 'polling resumed', { kind, why: message }),
  });
}

async function serveUntil(
  signal: AbortSignal,
  { host, port, path }: AssistantFlags,
  { secret, takeIn, log }: BotContext & { readonly secret: string },
): Promise<void> {
  const onRefused = (status: number, reason: string) => log.note('warn', 'refused', { status, why: reason });
  const endpoint = await serveWebhook({
    host,
    port,
    path,
    secret,
    onUpdate: async (update) => void (await takeIn(update)),
    onRefused,
  });
  log.note('info', 'listening', { url: endpoint.url });
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  await endpoint.close();
}
