import type { Json, RunResult } from '@cobbler/agent';
import { AgentError, Executor } from '@cobbler/agent';
import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import type { StepSettings, Steps } from '@cobbler/agent/runner';
import { runInSteps } from '@cobbler/agent/runner';
import { defined, isoTime, reachedBudget } from '@cobbler/agent/values';
import type { MessagePart, SendOptions } from '../channel/channel.ts';
import { recallFor } from '../memory/recall.ts';
import type { SendPiece } from '../storage/outbox.ts';
import { approvalQuestion, questionKeys } from './approval.ts';
import { deliver, replyTo, rethrowStop } from './deliver.ts';
import type { AssistantDependencies } from './dependencies.ts';
import { contextMessages, conversation } from './history.ts';
import * as words from './messages.ts';
import { stillWorking } from './messages.ts';
import { runNotedStep } from './noted.ts';
import { recordSpending } from './record-spending.ts';
import { systemPrompt } from './system-prompt.ts';
import type { TurnWork } from './work.ts';

/** The outcome of a turn, for tests. */
export type TurnEnd = { answered: boolean; delivered: string };

/** Settings of steps that use the databases, which may be briefly busy. */
const keeping: StepSettings = { retry: { retries: 5, firstMs: 500 }, timeoutMs: 60_000 };

/** Settings of steps for model requests and tool calls. The agent retries requests itself; these are for other failures. */
const acting: StepSettings = { retry: { retries: 2, firstMs: 1000 }, timeoutMs: 600_000 };

/**
 * Executes one turn, the same on every platform: saves the message, recalls memories, runs the model with its tools,
 * sends the reply and saves it. Each is a step; requirements S3.1 to S3.13. A turn that continues after a wait or a crash
 * begins here again: its notes, the log of its session and the outbox know what is done.
 */
export async function turn(
  dependencies: AssistantDependencies,
  work: TurnWork,
  steps: Steps,
): Promise<TurnEnd> {
  const admitted = await admit(dependencies, work, steps);
  if (!admitted.ok) return refuse(dependencies, work, steps, admitted);
  const text = await answer(dependencies, work, steps, admitted);
  const delivered = await deliver(dependencies, steps, {
    ...replyTo(work),
    markdown: text.text,
    ...(text.isAnswer && { answer: `${steps.runId}/reply` }),
  });
  await finish(dependencies, work, steps, text);
  return { answered: text.isAnswer, delivered };
}

/** The start time of the turn and the user's time zone, which are the same for all its requests. */
type Moment = { readonly now: number; readonly timeZone: string };

type Admission = { ok: true; timeZone: string; now: number } | { ok: false; first: boolean; waitMs: number };

async function admit(dependencies: AssistantDependencies, work: TurnWork, steps: Steps): Promise<Admission> {
  const { chats, messages, rateLimit, runtime, timeZone } = dependencies;
  const { chatId, userId, messageId, text, sentAt } = work;
  return await runNotedStep<Admission>(dependencies, steps, {
    name: 'admit',
    chatId,
    settings: keeping,
    async run() {
      const allowed = await chats.takeTurn(userId, runtime.now(), rateLimit);
      if (!allowed.ok) return { ok: false, first: allowed.first, waitMs: allowed.waitMs };
      await messages.add({ id: messageId, chatId, role: 'user', content: text, createdAt: isoTime(sentAt) });
      await chats.setRun(chatId, steps.runId);
      const chat = await chats.get(chatId);
      return { ok: true, timeZone: chat.timeZone ?? timeZone, now: runtime.now() };
    },
  });
}

/** Refuses a turn. Only the first of several refusals gets a reply, so that a flood of messages causes no flood of replies. */
async function refuse(
  dependencies: AssistantDependencies,
  work: TurnWork,
  steps: Steps,
  { first, waitMs }: Extract<Admission, { ok: false }>,
): Promise<TurnEnd> {
  if (!first) return { answered: false, delivered: 'nothing' };
  const reply = { ...replyTo(work), name: 'refusal', markdown: words.tooMany(waitMs) };
  return { answered: false, delivered: await deliver(dependencies, steps, reply) };
}

/** The reply to the user, and whether it is the model's response. */
interface TurnReply {
  readonly text: string;
  readonly isAnswer: boolean;
}

async function answer(
  dependencies: AssistantDependencies,
  work: TurnWork,
  steps: Steps,
  moment: Moment,
): Promise<TurnReply> {
  const stopTyping = showTyping(dependencies, steps, work.chatId);
  try {
    const result = await think(dependencies, work, steps, moment);
    const text = result.text.trim();
    if (text !== '' && answering.has(result.status)) return { text, isAnswer: true };
    if (result.error !== undefined) dependencies.report(result.error, `turn ${steps.runId}`);
    return { text: apology(result, moment), isAnswer: false };
  } catch (thrown) {
    const error = rethrowStop(thrown);
    dependencies.report(error, `turn ${steps.runId}`);
    return { text: words.failed, isAnswer: false };
  } finally {
    stopTyping();
  }
}

/** Statuses after which the last text is the model's response, complete or not. */
const answering: ReadonlySet<RunResult['status']> = new Set(['complete', 'max_tokens', 'refusal', 'limit']);

async function think(
  dependencies: AssistantDependencies,
  work: TurnWork,
  steps: Steps,
  moment: Moment,
): Promise<RunResult> {
  const { agent, tools, gate, turns, runtime, toolCalls, approvalMs, persona, messages, pricing, admins } =
    dependencies;
  const { chatId, userId: user } = work;
  const budget = await dependencies.budget?.(user);
  const memories = await recallTexts(dependencies, work, steps);
  const executor = new Executor({
    agent,
    tools,
    gate,
    store: turns,
    runtime,
    approvalMs,
    user,
    system: systemPrompt({ persona, tools, memories, ...moment }),
    limits: { toolCalls, turns: toolCalls + 2 },
    onLimit: 'finalize',
    // Nobody else could answer, and their turn would wait until the question expires.
    onReached: admins.includes(user) ? 'ask' : 'end',
    toolErrors: 'continue',
    ...defined({ budget, pricing }),
  });
  return await runInSteps(steps, {
    executor,
    store: turns,
    sessionId: turnSession(chatId, steps.runId),
    prompt: async () => conversation(await messages.recent(chatId, contextMessages, work.messageId)),
    settings: acting,
    approvalMs,
    ask: (request, { signal }) => askPerson(dependencies, work, steps, { request, signal }),
  });
}

/** Returns the id of the session that stores the events of a turn. */
export function turnSession(chatId: string, runId: string): string {
  return `${turnSessions(chatId)}${runId}`;
}

/** Returns the prefix of the sessions of a chat's turns. */
export function turnSessions(chatId: string): string {
  return `chat:${chatId}:`;
}

async function recallTexts(
  dependencies: AssistantDependencies,
  work: TurnWork,
  steps: Steps,
): Promise<readonly string[]> {
  const { memory, runtime } = dependencies;
  if (memory === undefined) return [];
  const { chatId, userId: user, text } = work;
  return await runNotedStep<string[]>(dependencies, steps, {
    name: 'recall',
    chatId,
    async run({ signal }) {
      const report = (error: Parameters<AssistantDependencies['report']>[0]) =>
        dependencies.report(error, `recall in ${steps.runId}`);
      const runId = `${steps.runId}-recall`;
      const onSpent = recordSpending(dependencies, { sessionId: turnSession(chatId, runId), runId, user });
      const found = await recallFor(memory, chatId, text, { signal, runtime, report, onSpent });
      return found.map((memory) => memory.text);
    },
  });
}

async function askPerson(
  dependencies: AssistantDependencies,
  { chatId }: TurnWork,
  { runId }: Steps,
  { request, signal }: { readonly request: ApprovalRequestedEvent; readonly signal: AbortSignal },
): Promise<void> {
  const { channel, outbox } = dependencies;
  const { parts, file, buttons, withheld, denyButtons } = approvalQuestion(channel, request);
  const keys = questionKeys(runId, request.approvalId);
  let isShown = buttons !== undefined;
  const post = async (
    name: string,
    part: MessagePart,
    send: (planned: MessagePart, options: SendOptions) => Promise<string>,
  ) => {
    const sendPart: SendPiece = (planned, { isRepeat }) =>
      send(planned, { signal, ...(isRepeat && { note: words.mayBeRepeat }) });
    const { state } = await outbox.deliver(keys + name, chatId, part, sendPart);
    isShown &&= state === 'sent';
  };
  for (const [index, part] of parts.entries()) {
    // Allow is under the last message, and only after all earlier ones have arrived.
    const under = index === parts.length - 1 && isShown ? buttons : undefined;
    await post(String(index + 1), part, (planned, options) =>
      channel.send(chatId, planned, { ...options, ...defined({ buttons: under }) }),
    );
    if (under !== undefined) return;
  }
  if (file !== undefined)
    await post('file', { text: file.name }, (_, options) => channel.sendFile(chatId, file, options));
  await post('withheld', withheld, (planned, options) =>
    channel.send(chatId, planned, { ...options, buttons: denyButtons }),
  );
}

function apology({ status, error }: RunResult, { timeZone }: Moment): string {
  const reached = reachedBudget(error?.toJSON());
  if (reached !== undefined) return words.budgetReached(reached.until, timeZone);
  if (status === 'timeout' || error?.kind === 'timeout') return words.tooSlow;
  if (error?.kind === 'rate_limit') return words.overloaded;
  return error === undefined ? words.noAnswer : words.failed;
}

/** Saves the reply if it is the model's; other text is not stored as its message. */
async function finish(
  dependencies: AssistantDependencies,
  work: TurnWork,
  steps: Steps,
  { text, isAnswer }: TurnReply,
): Promise<void> {
  const { chats, messages, memory, runner, runtime } = dependencies;
  const { chatId, replyId } = work;
  await steps.run(
    'finish',
    async () => {
      if (isAnswer)
        await messages.add({
          id: replyId,
          chatId,
          role: 'assistant',
          content: text,
          createdAt: isoTime(runtime.now()),
        });
      await chats.setRun(chatId, null, steps.runId);
      if (memory !== undefined && isAnswer) await rememberLater(dependencies, runner(), work, steps.runId);
    },
    keeping,
  );
}

/** Starts a separate run that summarizes messages, so that no turn waits for it or fails because of it. */
async function rememberLater(
  dependencies: AssistantDependencies,
  runner: ReturnType<AssistantDependencies['runner']>,
  { chatId, userId }: TurnWork,
  runId: string,
): Promise<void> {
  try {
    const input: Json = { type: 'remember', chatId, userId };
    await runner.start(input, { runId: `${runId}-remember`, key: `memory:${chatId}` });
  } catch (thrown) {
    dependencies.report(rethrowStop(thrown), `remembering after ${runId}`);
  }
}

/** Time that a channel shows the typing indicator, in milliseconds. */
const typingMs = 4500;

/** Time after which a waiting user gets a message, in milliseconds. */
const longMs = 45_000;

/**
 * Shows the typing indicator, and sends one message if the reply takes long. It never fails a turn, and the message
 * is sent at most once, even across restarts.
 * @returns a function that stops the indicator
 */
export function showTyping(dependencies: AssistantDependencies, steps: Steps, chatId: string): () => void {
  const { channel, outbox, runtime } = dependencies;
  let cancel = () => {};
  const began = runtime.monotonic();
  let hasSpoken = false;
  const show = () => {
    void channel.typing(chatId).catch(() => {});
    if (!hasSpoken && runtime.monotonic() - began >= longMs) {
      hasSpoken = true;
      const [part] = channel.pieces(stillWorking);
      const key = `${steps.runId}/still-working`;
      if (part !== undefined)
        void outbox
          .deliver(key, chatId, part, (words) => channel.send(chatId, words))
          .catch((thrown) => outbox.giveUp(key, AgentError.from(thrown).toJSON()))
          .catch(() => {});
    }
    cancel = runtime.timer(typingMs, show);
  };
  show();
  return () => cancel();
}
