import type { UserPart } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import { z } from 'zod';
import { Problem } from '../requests/problem.ts';
import { validate } from '../requests/request-body.ts';
import { id, content as saidSchema } from '../routes/schemas.ts';
import type { NamedReceivedDecision } from '../sessions/approval-service.ts';
import type { PromptContent } from '../sessions/session-ports.ts';

/** A front end's request: a message or approval decisions. */
export interface FrontRequest {
  /** The client's id of the message. */
  readonly key?: string;
  readonly content?: PromptContent;
  readonly answers: readonly NamedReceivedDecision[];
}

const messages = z.array(z.record(z.string(), z.unknown())).max(100_000);

/** The body that `useChat` sends. Only its last message is used. */
export interface ChatBody {
  readonly trigger?: string | undefined;
  readonly messages: readonly Readonly<Record<string, unknown>>[];
}

export const chatBody: z.ZodType<ChatBody> = z
  .object({
    trigger: z.string().optional(),
    messages: messages.min(1).meta({ description: 'UI messages. Only the last one is used.' }),
  })
  .meta({
    id: 'ChatRequest',
    description: 'Fields that the AI SDK sends. Fields not listed here are ignored.',
  });

/** The body that an AG-UI client sends. Only the last of its messages is used. */
export interface AgUiBody {
  readonly threadId: string;
  readonly runId: string;
  readonly messages: readonly Readonly<Record<string, unknown>>[];
  readonly resume?:
    | readonly {
        readonly interruptId: string;
        readonly status: 'resolved' | 'cancelled';
        readonly payload?: unknown;
      }[]
    | undefined;
}

export const agUiBody: z.ZodType<AgUiBody> = z
  .object({
    threadId: id,
    runId: z.string().min(1).max(200),
    messages: messages
      .default([])
      .meta({ description: 'Only the last message is used, and only if it is a user message.' }),
    resume: z
      .array(
        z.object({
          interruptId: z.string().max(300),
          status: z.enum(['resolved', 'cancelled']),
          payload: z.unknown().optional(),
        }),
      )
      .max(100)
      .optional(),
  })
  .meta({
    id: 'RunAgentInput',
    description: "AG-UI 1.0 input. The client's tools, state and context are ignored.",
  });

const uiText = z.object({ type: z.literal('text'), text: z.string() });
const uiFile = z.object({
  type: z.literal('file'),
  mediaType: z.string(),
  url: z.string(),
  filename: z.string().optional(),
});
const uiAnswer = z.object({
  state: z.literal('approval-responded'),
  approval: z.object({
    id,
    approved: z.boolean(),
    isAutomatic: z.boolean().optional(),
    reason: z.string().max(10_000).optional(),
    signature: z.string().optional(),
  }),
});
const uiMessage = z.object({ id: z.string().optional(), role: z.string(), parts: z.array(z.unknown()) });

/** Returns the message or decisions in the last message of a chat. @throws Problem 400 */
export function chatRequest({ trigger, messages }: ChatBody): FrontRequest {
  if (trigger === 'regenerate-message') {
    const detail =
      'Recorded events cannot be removed. Instead, fork the session at a point before the message, and send the message again in the fork.';
    throw new Problem(400, 'no_regenerate', detail);
  }
  const last = validate(uiMessage, messages.at(-1), 'invalid_body');
  if (last.role === 'user') {
    const content = validate(saidSchema, last.parts.flatMap(uiPart), 'invalid_body');
    return { content, answers: [], ...defined({ key: last.id }) };
  }
  const answers = last.parts.flatMap((part) => {
    const answer = uiAnswer.safeParse(part);
    // An automatic decision was never requested; the mark only lets the client continue.
    return answer.success && answer.data.approval.isAutomatic !== true ? [answer.data.approval] : [];
  });
  if (answers.length === 0) {
    throw new Problem(400, 'invalid_body', 'The last message has no content and no approval decision.');
  }
  return {
    answers: answers.map(({ id: approvalId, approved, reason, signature }) => ({
      approvalId,
      decision: approved ? 'allow' : 'deny',
      ...(approved && signature !== undefined && { hash: signature }),
      ...(!approved && reason !== undefined && { message: reason }),
    })),
  };
}

function uiPart(part: unknown): UserPart[] {
  const text = uiText.safeParse(part);
  if (text.success) return [text.data];
  const file = uiFile.safeParse(part);
  if (!file.success) return [];
  const { mediaType, url, filename } = file.data;
  const data = /^data:[^,]*;base64,(.*)$/s.exec(url)?.[1];
  if (data === undefined) throw new Problem(400, 'invalid_body', 'A file must be a base64 data URL.');
  return [filePart(mediaType, data, filename)];
}

function filePart(mediaType: string, data: string, name?: string): UserPart {
  return { type: 'file', mediaType, data, ...defined({ name }) };
}

const agUiPayload = z.object({
  approved: z.boolean(),
  message: z.string().max(10_000).optional(),
  more: z.number().positive().optional(),
});
const agUiPart = z.union([
  uiText,
  z.object({
    type: z.enum(['image', 'document']),
    source: z.object({ type: z.literal('data'), value: z.string(), mimeType: z.string() }),
  }),
]);
const agUiUser = z.object({ content: z.union([z.string(), z.array(agUiPart)]) });

/**
 * Returns the message or decisions of an AG-UI input; undefined if its last message is not from the user.
 * @throws Problem 400
 */
export function agUiRequest({ messages, resume = [], runId: key }: AgUiBody): FrontRequest {
  if (resume.length > 0) {
    const answers = resume.map(({ interruptId, status, payload }): NamedReceivedDecision => {
      const [approvalId = '', hash] = interruptId.split('.');
      if (status === 'cancelled') return { approvalId, decision: 'deny' };
      const { approved, message, more } = validate(agUiPayload, payload, 'invalid_body');
      if (approved) return { approvalId, decision: 'allow', hash, more };
      return { approvalId, decision: 'deny', ...defined({ message }) };
    });
    return { key, answers };
  }
  const last = messages.at(-1);
  if (last?.['role'] !== 'user') return { key, answers: [] };
  const { content } = validate(agUiUser, last, 'invalid_body');
  const parts = typeof content === 'string' ? content : content.map(agUiPartOf);
  return { key, content: validate(saidSchema, parts, 'invalid_body'), answers: [] };
}

function agUiPartOf(part: z.output<typeof agUiPart>): UserPart {
  if (part.type === 'text') return part;
  return filePart(part.source.mimeType, part.source.value, undefined);
}
