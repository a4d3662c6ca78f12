import type { AssistantFlags } from '../assistant/assistant-flags.ts';
import { readAssistantFlags } from '../assistant/assistant-flags.ts';
import { assistantHome } from '../assistant/assistant-home.ts';
import type { RawOptions } from '../config/run-flags.ts';
import type { Io } from '../terminal/io.ts';
import { didYouMean } from '../terminal/suggestion.ts';
import { UsageError } from '../terminal/usage-error.ts';

const actions = ['set-webhook', 'delete-webhook', 'status', 'audit', 'outbox'];

/** Runs `cobbler assistant`: the bot, the local chat or one of the other actions. Returns the exit code. */
export async function assistant(operands: readonly string[], options: RawOptions, io: Io): Promise<number> {
  const [action, address] = operands;
  const read = readAssistantFlags(options, io);
  const given = read.work.agent === undefined ? read : await (await bots()).withFolder(read, io);
  if (action === undefined && given.isLocal)
    return await (await import('../assistant/local.ts')).chatLocally(given, io);
  if (action === undefined) return await (await bots()).runBots(given, io);
  const [flags, ownIo] = await channelOf(given, io);
  const home = () => assistantHome(io.env, flags.place);
  switch (action) {
    case 'set-webhook':
      return await (await import('../assistant/webhook-address.ts')).setAddress(address, flags, ownIo);
    case 'delete-webhook':
      return await (await import('../assistant/webhook-address.ts')).takeAddressAway(flags, ownIo);
    case 'status':
      return await (await import('../assistant/reports.ts')).showStatus(home(), flags.apiRoot, ownIo);
    case 'audit':
      return await (await import('../assistant/reports.ts')).showAudit(home(), options, io);
    case 'outbox':
      return await (await import('../assistant/reports.ts')).showOutbox(home(), options, io);
    default:
      throw new UsageError(
        `The assistant has no action ${JSON.stringify(action)}.${didYouMean(action, actions)}`,
        'See: cobbler help assistant',
      );
  }
}

/** Returns the options and the environment of the channel that an action is about: Telegram if there is one. */
async function channelOf(given: AssistantFlags, io: Io): Promise<readonly [AssistantFlags, Io]> {
  if (given.work.agentFolder === undefined) return [given, io];
  const { channels } = given.work.agentFolder;
  const channel = channels.find(({ kind }) => kind === 'telegram') ?? channels[0];
  return (await bots()).onChannel(given, channel, io);
}

function bots() {
  return import('../assistant/bots.ts');
}
