import { AgentError } from '@cobbler/agent';
import type { StepCall, StepSettings, Steps } from '@cobbler/agent/runner';
import type { Button, MessagePart } from '../channel/channel.ts';
import type { SendPiece } from '../storage/outbox.ts';
import type { AssistantDependencies } from './dependencies.ts';
import * as words from './messages.ts';
import type { TurnWork } from './work.ts';

export interface Reply {
  readonly chatId: string;
  /** Name of the reply, unique in its run. */
  readonly name: string;
  readonly markdown: string;
  /** Buttons under the last part. */
  readonly buttons?: readonly Button[];
  /** The channel's id of the message that it replies to. */
  readonly replyTo?: string;
  /** True for a message that is shown as a reply even if it is sent for the first time. */
  readonly isTied?: boolean;
  /** The id of the answer that this reply contains; absent for the assistant's own messages. */
  readonly answer?: string;
}

/** Returns the part of a reply that is the same for all replies to one message. */
export function replyTo({
  chatId,
  asked,
}: Pick<TurnWork, 'chatId' | 'asked'>): Pick<Reply, 'chatId' | 'name' | 'replyTo'> {
  return { chatId, name: 'reply', ...tie(asked) };
}

/** The outcome of a reply: all of it arrived, some of it may have, or it could not be sent. */
export type DeliveryOutcome = 'sent' | 'maybe_sent' | 'given_up';

/** Retry settings of a step, so that no reply is lost if the channel is unavailable for a quarter of an hour. */
const sending: StepSettings = { retry: { retries: 20, firstMs: 1000, maxMs: 60_000 }, timeoutMs: 60_000 };

const noticing: StepSettings = { retry: { retries: 3, firstMs: 1000 }, timeoutMs: 60_000 };

/** The suffix of the key of a notice. A notice that is still planned is sent before the next reply. */
const noticeSuffix = '/notice';

const preparing: StepSettings = { retry: { retries: 5, firstMs: 500 }, timeoutMs: 120_000 };

/**
 * Sends a reply part by part, each as a separate step and through the outbox. A part that may have arrived is sent
 * again with a note, as a reply to the user's message. The user is notified of parts that could not be delivered, now
 * or before the next reply in this chat.
 */
export async function deliver(
  dependencies: AssistantDependencies,
  steps: Steps,
  reply: Reply,
): Promise<DeliveryOutcome> {
  await prepare(dependencies, steps, reply);
  const parts = dependencies.channel.pieces(reply.markdown);
  let delivered: DeliveryOutcome = 'sent';
  for (const index of parts.keys()) {
    const state = await sendPart(dependencies, steps, reply, { parts, index });
    if (state !== 'sent') delivered = state;
    if (state === 'given_up') break;
  }
  if (delivered !== 'sent') await sayUndelivered(dependencies, steps, reply);
  return delivered;
}

/** Stores an answer before any part of it is sent, and sends pending notices about earlier replies. */
async function prepare(dependencies: AssistantDependencies, steps: Steps, reply: Reply): Promise<void> {
  const { channel, outbox } = dependencies;
  const { chatId, markdown, answer, replyTo } = reply;
  await steps.run(
    `${reply.name}/before`,
    async ({ signal }) => {
      if (answer !== undefined) {
        await outbox.keepAnswer({ id: answer, chatId, markdown, ...tie(replyTo) });
      }
      for (const { key, piece: part } of await outbox.list({ chatId, state: 'planned' })) {
        if (!key.endsWith(noticeSuffix)) continue;
        const send: SendPiece = (planned, { replyTo }) =>
          channel.send(chatId, planned, { signal, ...tie(replyTo) });
        const sent = outbox.deliver(key, chatId, part, send, { atOnce: true });
        await sent.catch((error) => dependencies.report(AgentError.from(error), `notice ${key}`));
      }
    },
    preparing,
  );
}

async function sendPart(
  dependencies: AssistantDependencies,
  steps: Steps,
  reply: Reply,
  { parts, index }: { readonly parts: readonly MessagePart[]; readonly index: number },
): Promise<DeliveryOutcome> {
  const { channel, outbox } = dependencies;
  const { chatId, isTied = false } = reply;
  const name = `${reply.name}/${index + 1}`;
  const buttons = index === parts.length - 1 ? (reply.buttons ?? []) : [];
  const key = outboxKey(steps, name);
  const part = parts[index] ?? { text: '' };
  try {
    return await steps.run(
      name,
      async ({ signal }) => {
        const send: SendPiece = (planned, { isRepeat, replyTo }) =>
          channel.send(chatId, planned, {
            signal,
            ...tie(isRepeat || isTied ? replyTo : undefined),
            ...(isRepeat && { note: words.partMayBeRepeat(index + 1, parts.length) }),
            buttons,
          });
        return (await outbox.deliver(key, chatId, part, send, reply)).state;
      },
      sending,
    );
  } catch (thrown) {
    const error = rethrowStop(thrown);
    dependencies.report(error, `reply ${key}`);
    await steps.run(`${name}/given-up`, () => outbox.giveUp(key, error.toJSON()));
    return 'given_up';
  }
}

/** Notifies the user that a part is missing. A notice that cannot be sent waits for the next reply. */
async function sayUndelivered(
  dependencies: AssistantDependencies,
  steps: Steps,
  reply: Reply,
): Promise<void> {
  const { channel, outbox, report } = dependencies;
  const [part] = channel.pieces(reply.answer === undefined ? words.replyNotDelivered : words.notDelivered);
  if (part === undefined) return;
  const name = `${reply.name}${noticeSuffix}`;
  const key = outboxKey(steps, name);
  const send = async ({ signal }: StepCall) => {
    const send: SendPiece = (planned, { replyTo }) =>
      channel.send(reply.chatId, planned, { signal, ...tie(replyTo) });
    await outbox.deliver(key, reply.chatId, part, send, tie(reply.replyTo));
  };
  await steps.run(name, send, noticing).catch((thrown) => report(rethrowStop(thrown), `notice ${key}`));
}

function tie(replyTo: string | undefined): { readonly replyTo?: string } {
  return replyTo === undefined ? {} : { replyTo };
}

/** Returns the permanent key of a message part. */
function outboxKey(steps: Steps, name: string): string {
  return `${steps.runId}/${name}`;
}

/** Rethrows an error after an abort, because the next process handles the failure. */
export function rethrowStop(thrown: unknown): AgentError {
  const error = AgentError.from(thrown);
  if (error.kind === 'aborted') throw error;
  return error;
}
