import { join } from 'node:path';
import type { ChannelDefinition, ModuleDefinition } from '@cobbler/agent/definitions';
import type { ListeningChannel, ReadUpdate } from '@cobbler/assistant';
import { agentKey, withAgent } from '../project/agent-folder.ts';
import type { Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { AssistantFlags } from './assistant-flags.ts';
import { botLog, intake, openBot, pruneDaily } from './bot.ts';
import { runBot } from './telegram-bot.ts';

/** Runs the bots on the channels of an agent, or that of the environment, until they are stopped. Returns the exit code. */
export async function runBots(flags: AssistantFlags, io: Io): Promise<number> {
  const control = new AbortController();
  const forget = io.onInterrupt(() => {
    // A second signal ends the process immediately.
    if (control.signal.aborted) io.exit(130);
    control.abort();
  });
  const channels: readonly (ChannelDefinition | undefined)[] = flags.work.agentFolder?.channels ?? [];
  const bots = (channels.length === 0 ? [undefined] : channels).map(async (channel) => {
    try {
      const [own, ownIo] = onChannel(flags, channel, io);
      if (channel?.kind === 'module') await runModule(channel, own, ownIo, control.signal);
      else await runBot(own, ownIo, control.signal);
    } catch (error) {
      control.abort();
      throw error;
    }
  });
  try {
    await Promise.all(bots);
    return 0;
  } finally {
    await Promise.allSettled(bots);
    forget();
  }
}

/** Returns the options with their agent, after it was loaded. */
export async function withFolder(flags: AssistantFlags, io: Io): Promise<AssistantFlags> {
  // The assistant does not use the model of the environment.
  const work = await withAgent(flags.work, { ...io, env: { ...io.env, COBBLER_MODEL: '' } });
  const { agentFolder } = work;
  if (agentFolder === undefined) return flags;
  const place = join('agents', agentKey(agentFolder), flags.isLocal ? 'local' : '');
  return { ...flags, work, place };
}

/**
 * Returns the options and the environment of a channel of an agent, which has files of its own.
 * @throws UsageError if the variable for its token is not set.
 */
export function onChannel(
  flags: AssistantFlags,
  channel: ChannelDefinition | undefined,
  io: Io,
): readonly [AssistantFlags, Io] {
  if (flags.work.agentFolder === undefined || flags.isLocal) return [flags, io];
  const own = { ...flags, place: join(flags.place, channel?.name ?? 'telegram') };
  if (channel?.kind !== 'telegram') return [own, io];
  const { token, users, admins, path } = channel;
  if (!io.env[token]?.trim())
    throw new UsageError(
      `The bot token is missing: ${token} is not set.`,
      `Send /newbot to @BotFather in Telegram, then: export ${token}=... Its name is in ${path}.`,
    );
  const people = (given: readonly string[], name: string) => (given.length > 0 ? given.join() : io.env[name]);
  const env = {
    ...io.env,
    TELEGRAM_BOT_TOKEN: io.env[token],
    TELEGRAM_ALLOWED_USERS: people(users, 'TELEGRAM_ALLOWED_USERS'),
    TELEGRAM_ADMIN_USERS: people(admins, 'TELEGRAM_ADMIN_USERS'),
  };
  return [own, { ...io, env }];
}

/** Runs the bot on the channel of a module until the signal aborts, or the channel ends. */
async function runModule(
  { path, name, load }: ModuleDefinition,
  flags: AssistantFlags,
  io: Io,
  signal: AbortSignal,
): Promise<void> {
  const made = await load();
  const channel = (typeof made === 'function' ? await made(io.env) : made) as ListeningChannel | undefined;
  if (typeof channel?.listen !== 'function')
    throw new UsageError(
      `${path} exports no channel that can receive messages.`,
      'Export an object with the functions of a Channel and listen(receive, signal), or a function that returns it.',
    );
  const log = botLog(flags, [], io);
  const { opened, close, facts } = await openBot(flags, { io, channel, log });
  try {
    log.note('info', 'ready', { channel: name, ...facts });
    const endPruning = pruneDaily(opened, { log, io });
    // The assistant reads what it receives.
    await channel.listen(
      intake(opened, log, (update) => update as ReadUpdate),
      signal,
    );
    endPruning();
    log.note('info', 'stopped', { channel: name });
  } finally {
    await close();
  }
}
