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
  const flags = readAssistantFlags(options, io);
  const home = () => assistantHome(io.env, flags.isLocal);
  switch (action) {
    case undefined:
      if (flags.isLocal) return await (await import('../assistant/local.ts')).chatLocally(flags, io);
      return await (await import('../assistant/telegram-bot.ts')).runBot(flags, io);
    case 'set-webhook':
      return await (await import('../assistant/webhook-address.ts')).setAddress(address, flags, io);
    case 'delete-webhook':
      return await (await import('../assistant/webhook-address.ts')).takeAddressAway(flags, io);
    case 'status':
      return await (await import('../assistant/reports.ts')).showStatus(home(), flags.apiRoot, io);
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
