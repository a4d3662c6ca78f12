import type { AgentError } from '@cobbler/agent';
import { shortPath } from '../config/directory.ts';
import { visible } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import { ownName } from '../terminal/program-name.ts';
import type { AssistantFlags } from './assistant-flags.ts';
import { assistantHome } from './assistant-home.ts';
import { openWork } from './assistant-work.ts';
import { chooseAgent } from './choose-agent.ts';
import { processLines } from './line-source.ts';
import { openAssistant } from './open-assistant.ts';
import { scriptedModel } from './scripted-model.ts';
import { terminalChannel } from './terminal-channel.ts';
import { TerminalChat, terminalView } from './terminal-chat.ts';

/** Lower than for a bot, so that a trial soon shows that the assistant remembers. */
const rememberAtOnce = { threshold: { messages: 1 }, keep: 0 };
const rememberSoon = { threshold: { messages: 9 }, keep: 4 };

/** Runs `cobbler assistant --local`: the assistant in this terminal, without Telegram. Returns the exit code. */
export async function chatLocally(flags: AssistantFlags, io: Io): Promise<number> {
  const isScripted = flags.work.model === undefined && flags.work.agent === undefined;
  const agent = isScripted ? scriptedModel() : await chooseAgent(flags.work, io);
  const home = assistantHome(io.env, flags.place);
  const say = (line: string) => io.stderr.write(`cobbler: ${visible(line)}\n`);
  // The scripted model costs nothing.
  const work = await openWork(flags, home, { agent, isFree: isScripted }, say, io);
  let chat: TerminalChat | undefined;
  const early: string[] = [];
  const print = (text: string) => (chat === undefined ? early.push(text) : chat.print(text));
  const channel = terminalChannel(terminalView(io, print));
  const opened = openAssistant(home, work.sql, {
    ...work.parts,
    channel,
    remember: isScripted ? rememberAtOnce : rememberSoon,
    report: (error: AgentError) => say(error.message),
  });
  try {
    announce({ model: agent.model, isScripted, words: work.words, folder: home.folder }, io);
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
    await work.close();
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
