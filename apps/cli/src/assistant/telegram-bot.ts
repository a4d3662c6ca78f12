import type { Json } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { Workflow } from '@cobbler/agent/runner';
import { defined } from '@cobbler/agent/values';
import type { ReadUpdate } from '@cobbler/assistant';
import { commandList } from '@cobbler/assistant';
import { getMe, poll, readUpdate, setCommands, telegramChannel } from '@cobbler/assistant/telegram';
import { agentFace } from '../agents/agents.ts';
import { withReaders } from '../agents/open-agents.ts';
import { recordChildren } from '../config/backend.ts';
import { assistantTools, chooseTools } from '../config/choose-tools.ts';
import { shortPath, workFolder } from '../config/directory.ts';
import { sandboxIn } from '../config/sandbox.ts';
import { readSettings } from '../config/settings.ts';
import { Budgets } from '../run/budgets/budgets.ts';
import { openAudit } from '../session/audit.ts';
import type { Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { AssistantFlags } from './assistant-flags.ts';
import type { AssistantHome } from './assistant-home.ts';
import { assistantHome, lockHome, webhookSecret } from './assistant-home.ts';
import { BotLog } from './bot-log.ts';
import { chooseAgent, pricesOf } from './choose-agent.ts';
import { chooseEmbedder } from './choose-embedder.ts';
import type { OpenedAssistant } from './open-assistant.ts';
import { openAssistant, openChats } from './open-assistant.ts';
import type { TelegramAccess } from './telegram-access.ts';
import { adminUsers, allowedUsers, explainError, telegramAccess } from './telegram-access.ts';
import { serveWebhook } from './webhook-endpoint.ts';

const dayMs = 86_400_000;

/** Runs `cobbler assistant`: the bot, until it is stopped. Returns the exit code. */
export async function runBot(flags: AssistantFlags, io: Io): Promise<number> {
  const telegram = telegramAccess(io.env, flags.apiRoot);
  const allowed = allowedUsers(io.env);
  const home = assistantHome(io.env);
  const secret = flags.isWebhook ? webhookSecret(home, io.env) : '';
  const log = new BotLog({
    write: (line) => io.stderr.write(line),
    level: flags.level,
    forPeople: io.stderr.tty,
    secrets: [telegram.token, secret],
  });
  const { opened, close, facts } = await openBot(flags, { io, home, telegram, log });
  const stop = interruptSignal(io);
  try {
    const botName = await nameOf(telegram, log);
    await offerCommands(telegram, log);
    log.note('info', 'ready', { bot: botName, ...facts, allowed: allowed.size });
    if (allowed.size === 0) {
      const advice =
        'every user is ignored until you set TELEGRAM_ALLOWED_USERS; this log shows the ids of senders';
      log.note('warn', advice);
    }
    const takeIn = intake(opened, { log, allowed, botName });
    const endPruning = pruneDaily(opened, { log, io });
    if (flags.isWebhook) await serveUntil(stop.signal, flags, { secret, takeIn, log });
    else await pollUntil(stop.signal, telegram, { takeIn, log });
    endPruning();
    log.note('info', 'stopped');
    return 0;
  } catch (error) {
    throw explainError(error);
  } finally {
    stop.forget();
    await close();
  }
}

interface BotDependencies {
  readonly io: Io;
  readonly home: AssistantHome;
  readonly telegram: TelegramAccess;
  readonly log: BotLog;
}

async function openBot(flags: AssistantFlags, { io, home, telegram, log }: BotDependencies) {
  const agent = await chooseAgent(flags.work, io);
  const { env, file } = await readSettings(io.env);
  const { embedder, words } = await chooseEmbedder(flags.embedder, flags.embedderFloor, env);
  const root = workFolder(flags.work.dir, io);
  const sandbox = await sandboxIn(root, flags.work, io);
  const audit = openAudit('assistant', file.values, io, (why) =>
    log.note('warn', 'failed', { where: 'audit', why }),
  );
  const own = [...assistantTools({ root, environment: io.env, sandbox }), agentFace];
  const pricing = await pricesOf(io.env);
  const tools = withReaders(chooseTools(own, flags.work.tools), {
    agent,
    pricing,
    folder: root,
    audit,
    env: io.env,
  });
  // Finds and ends commands that a killed bot left running.
  if (tools.length > 0) await recordChildren(io.env);
  const budgets = new Budgets({
    env: io.env,
    values: file.values,
    report: (why) => log.note('warn', 'failed', { where: 'budgets', why }),
    ...defined({ chosen: flags.work.budget }),
  });
  const budget = await budgets.ofUsers(flags.timeZone);
  const admins = [...adminUsers(io.env)];
  const sql = openChats(home);
  const unlock = lockHome(home);
  if (unlock === undefined) {
    sql.close();
    throw new UsageError(
      'The assistant for this home directory is already running.',
      'Stop it first, or set COBBLER_HOME to another directory.',
    );
  }
  audit.note({ kind: 'sandbox', sandbox: sandbox.kind });
  const opened = openAssistant(home, sql, {
    agent,
    audit,
    channel: telegramChannel({ token: telegram.token, api: telegram.api }),
    embedder,
    tools,
    timeZone: flags.timeZone,
    keepDays: flags.keepDays,
    report: ({ kind, code, message }, where) =>
      log.note('warn', 'failed', { where, kind, code, why: message }),
    around: (workflow) => withLogging(workflow, log),
    admins,
    pricing,
    ...defined({ budget, persona: flags.persona }),
  });
  const facts = {
    model: agent.model,
    tools: tools.length === 0 ? 'none' : tools.map(({ name }) => name).join(','),
    zone: flags.timeZone,
    home: shortPath(home.folder, io.env),
    memory: words,
  };
  const close = async () => {
    await opened.close();
    await budgets.close();
    unlock();
  };
  return { opened, close, facts };
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

type UpdateHandler = (update: unknown) => Promise<void>;

interface IntakeOptions {
  readonly log: BotLog;
  readonly allowed: ReadonlySet<string>;
  readonly botName: string | undefined;
}

function intake({ assistant }: OpenedAssistant, { log, allowed, botName }: IntakeOptions): UpdateHandler {
  return async (update) => {
    const arrival = readUpdate(update, { allowed, ...defined({ botName }) });
    try {
      const isNew = await assistant.receive(arrival);
      noteArrival(log, arrival, { update, isNew });
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
    onUpdate: takeIn,
    onTrouble: ({ kind, message }) => log.note('warn', 'polling resumed', { kind, why: message }),
  });
}

async function serveUntil(
  signal: AbortSignal,
  { host, port, path }: AssistantFlags,
  { secret, takeIn, log }: BotContext & { readonly secret: string },
): Promise<void> {
  const onRefused = (status: number, reason: string) => log.note('warn', 'refused', { status, why: reason });
  const endpoint = await serveWebhook({ host, port, path, secret, onUpdate: takeIn, onRefused });
  log.note('info', 'listening', { url: endpoint.url });
  if (!signal.aborted)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  await endpoint.close();
}

function pruneDaily(opened: OpenedAssistant, { log, io }: Pick<BotDependencies, 'log' | 'io'>): () => void {
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

/** Stops the bot on a signal; a second signal ends the process immediately. */
function interruptSignal(io: Io): { readonly signal: AbortSignal; forget(): void } {
  const control = new AbortController();
  const forget = io.onInterrupt(() => {
    if (control.signal.aborted) io.exit(130);
    control.abort();
  });
  return { signal: control.signal, forget };
}
