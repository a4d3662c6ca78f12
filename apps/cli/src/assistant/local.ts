import type { AgentError } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import { agentFace } from '../agents/agents.ts';
import { withReaders } from '../agents/open-agents.ts';
import { recordChildren } from '../config/backend.ts';
import { assistantTools, chooseTools } from '../config/choose-tools.ts';
import { shortPath, workFolder } from '../config/directory.ts';
import { sandboxIn } from '../config/sandbox.ts';
import { readSettings } from '../config/settings.ts';
import { Budgets } from '../run/budgets/budgets.ts';
import { openAudit } from '../session/audit.ts';
import { visible } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import { ownName } from '../terminal/program-name.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { AssistantFlags } from './assistant-flags.ts';
import { assistantHome, lockHome } from './assistant-home.ts';
import { chooseAgent, pricesOf } from './choose-agent.ts';
import { chooseEmbedder } from './choose-embedder.ts';
import { processLines } from './line-source.ts';
import { openAssistant, openChats } from './open-assistant.ts';
import { scriptedModel } from './scripted-model.ts';
import { terminalChannel } from './terminal-channel.ts';
import { TerminalChat, terminalView } from './terminal-chat.ts';

/** Lower than for a bot, so that a trial soon shows that the assistant remembers. */
const rememberAtOnce = { threshold: { messages: 1 }, keep: 0 };
const rememberSoon = { threshold: { messages: 9 }, keep: 4 };

/** Runs `cobbler assistant --local`: the assistant in this terminal, without Telegram. Returns the exit code. */
export async function chatLocally(flags: AssistantFlags, io: Io): Promise<number> {
  const isScripted = flags.work.model === undefined;
  const agent = isScripted ? scriptedModel() : await chooseAgent(flags.work, io);
  const { env, file } = await readSettings(io.env);
  const { embedder, words } = await chooseEmbedder(flags.embedder, flags.embedderFloor, env);
  const folder = workFolder(flags.work.dir, io);
  const sandbox = await sandboxIn(folder, flags.work, io);
  const audit = openAudit('assistant', file.values, io);
  const own = [...assistantTools({ root: folder, environment: io.env, sandbox }), agentFace];
  const pricing = await pricesOf(io.env);
  const tools = withReaders(chooseTools(own, flags.work.tools), {
    agent,
    pricing,
    folder,
    audit,
    env: io.env,
  });
  if (tools.length > 0) await recordChildren(io.env);
  const home = assistantHome(io.env, true);
  const budgets = new Budgets({
    env: io.env,
    values: file.values,
    ...defined({ chosen: flags.work.budget }),
  });
  // The scripted model costs nothing.
  const budget = isScripted ? undefined : await budgets.ofUsers(flags.timeZone);
  const sql = openChats(home);
  const unlock = lockHome(home);
  if (unlock === undefined) {
    sql.close();
    throw new UsageError(
      'The assistant is already in use in another terminal.',
      'Close it there first, or set COBBLER_HOME to another directory.',
    );
  }
  let chat: TerminalChat | undefined;
  const early: string[] = [];
  const print = (text: string) => (chat === undefined ? early.push(text) : chat.print(text));
  const channel = terminalChannel(terminalView(io, print));
  audit.note({ kind: 'sandbox', sandbox: sandbox.kind });
  const opened = openAssistant(home, sql, {
    agent,
    audit,
    channel,
    embedder,
    tools,
    timeZone: flags.timeZone,
    keepDays: flags.keepDays,
    remember: isScripted ? rememberAtOnce : rememberSoon,
    report: (error: AgentError) => io.stderr.write(`cobbler: ${visible(error.message)}\n`),
    pricing,
    ...defined({ budget, persona: flags.persona }),
  });
  try {
    announce({ model: agent.model, isScripted, words, folder: home.folder }, io);
    const { assistant, runner } = opened;
    const isPiped = !io.stdin.tty || !io.stdout.tty;
    chat = new TerminalChat({ io, assistant, runner, channel, isPiped, openLines: processLines });
    for (const text of early) chat.print(text);
    const forget = io.onInterrupt(() => chat?.leave());
    await opened.prune();
    await chat.run();
    forget();
    return 0;
  } finally {
    await opened.close();
    await budgets.close();
    unlock();
  }
}

interface AssistantStartup {
  readonly model: string;
  readonly isScripted: boolean;
  /** The description of the embedder. */
  readonly words: string;
  readonly folder: string;
}

/** Prints the opening notice. The first line prevents users from mistaking the script for a model. */
function announce({ model, isScripted, words, folder }: AssistantStartup, io: Io): void {
  const who = isScripted
    ? 'This is a scripted model: it follows a few fixed rules. The memory is real.'
    : `Model: ${visible(model)}.`;
  const lines = [
    who,
    ...(isScripted ? [`With a real model: ${ownName(io.env)} assistant --local -m fast`] : []),
    `Stored in ${visible(shortPath(folder, io.env))}.`,
    `Memory is searched ${visible(words)}.`,
    'Tell the assistant something about yourself, then ask about it. /help lists the commands; press Ctrl-C twice to exit.',
  ];
  io.stderr.write(`${lines.join('\n')}\n${io.stderr.tty ? '\n' : ''}`);
}
