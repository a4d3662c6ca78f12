import { openSession } from '@cobbler/agent';
import type { ReachedLimit } from '@cobbler/agent/events';
import { limitQuestion, openRequests } from '@cobbler/agent/events';
import type { Steps } from '@cobbler/agent/runner';
import { approvalSignal } from '@cobbler/agent/runner';
import { defined } from '@cobbler/agent/values';
import type { MessagePart } from '../channel/channel.ts';
import type { ChatMessage } from '../storage/chat-message.ts';
import type { SendPiece } from '../storage/outbox.ts';
import { approvalDecision, questionKeys } from './approval.ts';
import { deliver, replyTo, rethrowStop } from './deliver.ts';
import type { AssistantDependencies } from './dependencies.ts';
import * as words from './messages.ts';
import { runNotedStep } from './noted.ts';
import { isTimeZone, zonedTime } from './system-prompt.ts';
import { turnSession, turnSessions } from './turn.ts';
import type { ButtonPressWork, CommandWork } from './work.ts';

const shownMemories = 30;

/** The reply to a command: text, or an answer of the model that is sent again. */
type CommandReply = { markdown: string; answer?: string; replyTo?: string };

/** A command. It returns its reply, or handles everything itself. */
type Command = (
  dependencies: AssistantDependencies,
  work: CommandWork,
  steps: Steps,
) => Promise<string | CommandReply | undefined>;

const acts: Readonly<Record<keyof typeof words.commandWords, Command>> = {
  start: async () => words.greeting,
  help: async () => words.help,
  new: startFresh,
  cancel,
  again,
  memory: showMemory,
  forget: async () => words.forgetQuestion,
  export: exportChat,
  timezone: setTimeZone,
};

const commands: ReadonlyMap<string, Command> = new Map(Object.entries(acts));

/** All commands with a one-line description each, for a channel that suggests them. */
export const commandList: readonly { readonly name: string; readonly text: string }[] = Object.entries(
  words.commandWords,
).map(([name, text]) => ({ name, text }));

/** Executes a command and sends its reply. */
export async function command(
  dependencies: AssistantDependencies,
  work: CommandWork,
  steps: Steps,
): Promise<void> {
  const reply = await answerTo(dependencies, work, steps);
  if (reply === null) return;
  const isQuestion = work.name === 'forget';
  await deliver(dependencies, steps, {
    ...replyTo(work),
    ...reply,
    // An answer that is sent again is shown with the message that it replies to.
    isTied: reply.answer !== undefined,
    ...(isQuestion && {
      buttons: [
        { label: words.forgetYes, data: 'forget:yes' },
        { label: words.forgetNo, data: 'forget:no' },
      ],
    }),
  });
}

async function answerTo(
  dependencies: AssistantDependencies,
  work: CommandWork,
  steps: Steps,
): Promise<CommandReply | null> {
  const act = commands.get(work.name);
  try {
    return await runNotedStep<CommandReply | null>(dependencies, steps, {
      name: 'command',
      chatId: work.chatId,
      settings: { retry: { retries: 6, firstMs: 1000 }, timeoutMs: 120_000 },
      async run() {
        const reply =
          act === undefined ? words.unknownCommand(work.name) : await act(dependencies, work, steps);
        return typeof reply === 'string' ? { markdown: reply } : (reply ?? null);
      },
    });
  } catch (thrown) {
    dependencies.report(rethrowStop(thrown), `command ${steps.runId}`);
    return { markdown: words.failed };
  }
}

/** Handles a button press: a decision about a call or about deletion. A repeated press has no effect. */
export async function handleButtonPress(
  dependencies: AssistantDependencies,
  work: ButtonPressWork,
  steps: Steps,
): Promise<void> {
  const { channel } = dependencies;
  const outcome = await runNotedStep<ControlReply>(dependencies, steps, {
    name: 'tap',
    chatId: work.chatId,
    settings: { retry: { retries: 3, firstMs: 500 }, timeoutMs: 60_000 },
    run: () => decide(dependencies, work),
  });
  await steps.run('heard', () =>
    channel.heard(work.tapId, outcome.short).catch((error) => dependencies.report(error, 'tap')),
  );
  if (work.message === undefined || outcome.long === '') return;
  const [part] = channel.pieces(outcome.long);
  if (part !== undefined) await edit(dependencies, steps, work, part);
}

type ControlReply = { short: string; long: string };

async function decide(dependencies: AssistantDependencies, work: ButtonPressWork): Promise<ControlReply> {
  const { chatId, userId, message } = work;
  const approval = approvalDecision(work.data);
  if (approval !== undefined) {
    const { approvalId } = approval;
    const runId = await dependencies.chats.running(chatId);
    const limit = runId && (await openLimit(dependencies, turnSession(chatId, runId), approvalId));
    if (limit && work.data.startsWith('allow:') && !dependencies.admins.includes(userId))
      return { short: words.adminsOnly, long: '' };
    if (runId !== undefined && message !== undefined)
      await dependencies.outbox.confirm(questionKeys(runId, approvalId), chatId, message);
    const signal = approvalSignal(approvalId);
    const isDelivered =
      runId !== undefined && (await dependencies.runner().signal(runId, signal, approval.decision));
    if (!isDelivered) return { short: words.isOver, long: '' };
    const isAllowed = work.data.startsWith('allow:');
    const { allow, deny } = limit ? limitQuestion(limit) : { allow: words.allowYes, deny: words.allowNo };
    return same(isAllowed ? `✓ ${allow}` : `✗ ${deny}`);
  }
  if (work.data === 'forget:yes') return same(await forget(dependencies, chatId));
  if (work.data === 'forget:no') return same(words.kept);
  return { short: words.isOver, long: '' };
}

/** Returns the limit that an open question of a turn is about; the data of a button cannot be trusted. */
async function openLimit(
  { turns }: AssistantDependencies,
  sessionId: string,
  approvalId: string,
): Promise<ReachedLimit | undefined> {
  const open = openRequests(await openSession(turns, sessionId));
  return open.find((request) => request.approvalId === approvalId)?.limit;
}

function same(text: string): ControlReply {
  return { short: text, long: text };
}

/** Replaces a question and its buttons, so that it cannot be answered again. */
async function edit(
  dependencies: AssistantDependencies,
  steps: Steps,
  { chatId, message = '' }: ButtonPressWork,
  part: MessagePart,
): Promise<void> {
  await steps.run('edit', ({ signal }) =>
    dependencies.channel
      .edit(chatId, message, part, { signal })
      .catch((error) => dependencies.report(error, `edit in ${steps.runId}`)),
  );
}

async function startFresh({ messages }: AssistantDependencies, { chatId }: CommandWork): Promise<string> {
  await messages.startFresh(chatId);
  return words.startedFresh;
}

async function cancel({ chats, runner }: AssistantDependencies, { chatId }: CommandWork): Promise<string> {
  const runId = await chats.running(chatId);
  const isStopped = runId !== undefined && (await runner().cancel(runId));
  if (runId !== undefined) await chats.setRun(chatId, null, runId);
  return isStopped ? words.stopped : words.nothingToStop;
}

/** Returns the answer that the command refers to, otherwise the latest one. Of older answers, only the text is stored. */
async function again(
  { messages, outbox }: AssistantDependencies,
  { chatId, repliesTo }: CommandWork,
): Promise<string | CommandReply> {
  const kept = await outbox.answer(chatId, repliesTo);
  if (kept !== undefined) {
    const { id, markdown, replyTo } = kept;
    return { markdown, answer: id, ...defined({ replyTo }) };
  }
  if (repliesTo !== undefined) return words.notRepeatable;
  const recent = await messages.recent(chatId, 40);
  return recent.findLast(({ role }) => role === 'assistant')?.content ?? words.nothingToRepeat;
}

async function showMemory({ memory }: AssistantDependencies, { chatId }: CommandWork): Promise<string> {
  const memories = (await memory?.list(chatId)) ?? [];
  if (memories.length === 0) return words.nothingRemembered;
  const shown = memories.slice(-shownMemories);
  return words.remembered(
    shown.map(({ text }) => text),
    memories.length - shown.length,
  );
}

/** Deletes all data of a chat, and cancels the active turn, whose reply would be about deleted data. */
async function forget(dependencies: AssistantDependencies, chatId: string): Promise<string> {
  const { chats, messages, memory, outbox, runner, turns } = dependencies;
  const runId = await chats.running(chatId);
  if (runId !== undefined) await runner().cancel(runId);
  const memories = (await memory?.forget(chatId)) ?? 0;
  const count = await messages.forget(chatId);
  await turns.forgetTurns(turnSessions(chatId));
  await outbox.forget(chatId);
  await chats.forget(chatId);
  return words.forgotten(count, memories);
}

async function exportChat(
  dependencies: AssistantDependencies,
  work: CommandWork,
  steps: Steps,
): Promise<string | undefined> {
  const { channel, messages, outbox } = dependencies;
  const lines: string[] = [];
  for await (const message of messages.all(work.chatId)) lines.push(line(message));
  if (lines.length === 0) return words.nothingToExport;
  const file = { name: 'messages.jsonl', type: 'application/x-ndjson', text: `${lines.join('\n')}\n` };
  const send: SendPiece = (_, { isRepeat, replyTo }) =>
    channel.sendFile(work.chatId, file, {
      ...(isRepeat && { note: words.mayBeRepeat, ...defined({ replyTo }) }),
    });
  const reply = work.asked === undefined ? {} : { replyTo: work.asked };
  const { state } = await outbox.deliver(
    `${steps.runId}/file`,
    work.chatId,
    { text: file.name },
    send,
    reply,
  );
  return state === 'sent' ? undefined : words.replyNotDelivered;
}

function line({ id, role, content, createdAt }: ChatMessage): string {
  return JSON.stringify({ id, role, content, created_at: createdAt });
}

async function setTimeZone(
  dependencies: AssistantDependencies,
  { chatId, rest }: CommandWork,
): Promise<string> {
  const { chats, runtime } = dependencies;
  if (rest === '') return words.timeZoneAsked((await chats.get(chatId)).timeZone ?? dependencies.timeZone);
  if (!isTimeZone(rest)) return words.timeZoneUnknown(rest);
  await chats.setTimeZone(chatId, rest);
  return words.timeZoneSet(zonedTime(runtime.now(), rest));
}
