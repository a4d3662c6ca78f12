import type { Json } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { Workflow } from '@cobbler/agent/runner';
import type { Channel, ReadUpdate } from '@cobbler/assistant';
import { shortPath } from '../config/directory.ts';
import type { Io } from '../terminal/io.ts';
import type { AssistantFlags } from './assistant-flags.ts';
import { assistantHome } from './assistant-home.ts';
import { openWork } from './assistant-work.ts';
import { BotLog } from './bot-log.ts';
import { chooseAgent } from './choose-agent.ts';
import type { OpenedAssistant } from './open-assistant.ts';
import { openAssistant } from './open-assistant.ts';
import { adminUsers } from './telegram-access.ts';

const dayMs = 86_400_000;

/** Returns the log of a bot. */
export function botLog({ level }: AssistantFlags, secrets: readonly string[], { stderr }: Io): BotLog {
  return new BotLog({ write: (line) => stderr.write(line), level, forPeople: stderr.tty, secrets });
}

interface BotDependencies {
  readonly io: Io;
  readonly channel: Channel;
  readonly log: BotLog;
}

/** A running assistant, and the facts of its first line in the log. */
interface OpenedBot {
  readonly opened: OpenedAssistant;
  readonly facts: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

/** Opens the assistant of a bot. */
export async function openBot(
  flags: AssistantFlags,
  { io, channel, log }: BotDependencies,
): Promise<OpenedBot> {
  const agent = await chooseAgent(flags.work, io);
  const home = assistantHome(io.env, flags.place);
  const admins = [...adminUsers(io.env)];
  const work = await openWork(
    flags,
    home,
    { agent },
    (why, where) => log.note('warn', 'failed', { where, why }),
    io,
  );
  const opened = openAssistant(home, work.sql, {
    ...work.parts,
    channel,
    admins,
    report: ({ kind, code, message }, where) =>
      log.note('warn', 'failed', { where, kind, code, why: message }),
    around: (workflow) => withLogging(workflow, log),
  });
  const { tools = [] } = work.parts;
  const facts = {
    model: agent.model,
    tools: tools.length === 0 ? 'none' : tools.map(({ name }) => name).join(','),
    zone: flags.timeZone,
    home: shortPath(home.folder, io.env),
    memory: work.words,
  };
  const close = async () => {
    await opened.close();
    await work.close();
  };
  return { opened, close, facts };
}

/** Takes in what a channel has received. Returns false if there is nothing to do. */
export type UpdateHandler = (update: unknown) => Promise<boolean>;

/** Returns what takes in the updates of a channel, which `readArrival` reads. */
export function intake(
  { assistant }: OpenedAssistant,
  log: BotLog,
  readArrival: (update: unknown) => ReadUpdate,
): UpdateHandler {
  return async (update) => {
    const arrival = readArrival(update);
    try {
      const isNew = await assistant.receive(arrival);
      noteArrival(log, arrival, { update, isNew });
      return isNew;
    } catch (error) {
      log.note('error', 'not stored', { update: arrival.id, why: AgentError.from(error).message });
      throw error;
    }
  };
}

function noteArrival(
  log: BotLog,
  arrival: ReadUpdate,
  { update, isNew }: { readonly update: unknown; readonly isNew: boolean },
): void {
  if (arrival.type === 'ignored') {
    log.note('info', 'ignored', { update: arrival.id, why: arrival.reason, user: senderOf(update) });
    return;
  }
  const { id, chatId, type } = arrival;
  log.note('info', isNew ? 'arrived' : 'received again', { update: id, chat: chatId, type });
  if (arrival.type === 'text') log.note('debug', 'text', { update: id, text: arrival.text });
}

/** Returns the sender's id, which the owner of the bot can then allow. */
function senderOf(update: unknown): number | undefined {
  const { message, callback_query: buttonPress } = (update ?? {}) as Readonly<
    Record<string, { readonly from?: { readonly id?: unknown } } | undefined>
  >;
  const id = (message ?? buttonPress)?.from?.id;
  return typeof id === 'number' ? id : undefined;
}

/** Wraps a workflow and logs the outcome of each run. */
function withLogging(workflow: Workflow, log: BotLog): Workflow {
  return async (input, steps) => {
    const began = performance.now();
    const { type, chatId } = input as Readonly<Record<string, Json | undefined>>;
    const facts = () => ({
      run: steps.runId,
      work: String(type),
      chat: String(chatId),
      ms: Math.round(performance.now() - began),
    });
    try {
      const end = await workflow(input, steps);
      const { answered, delivered } = (end ?? {}) as Readonly<Record<string, Json | undefined>>;
      const result = typeof delivered === 'string' ? { delivered } : {};
      log.note(answered === false ? 'warn' : 'info', answered === false ? 'failed to reply' : 'done', {
        ...facts(),
        ...result,
      });
      return end;
    } catch (error) {
      const { kind, code, message } = AgentError.from(error);
      const level = kind === 'aborted' ? 'info' : 'error';
      log.note(level, kind === 'aborted' ? 'interrupted' : 'failed', { ...facts(), code, why: message });
      throw error;
    }
  };
}

/** Deletes expired data now and every day. Returns a function that ends this. */
export function pruneDaily(
  opened: OpenedAssistant,
  { log, io }: Pick<BotDependencies, 'log' | 'io'>,
): () => void {
  let cancel = () => {};
  const prune = () => {
    cancel = io.clock.after(dayMs, prune);
    opened.prune().catch((error: unknown) => {
      log.note('warn', 'could not delete expired data', { why: AgentError.from(error).message });
    });
  };
  prune();
  return () => cancel();
}
