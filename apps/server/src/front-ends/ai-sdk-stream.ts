import type { RunStatus, UserPart } from '@cobbler/agent';
import type { RunEnd } from '@cobbler/agent/events';
import { limitQuestion } from '@cobbler/agent/events';
import { assertNever, defined } from '@cobbler/agent/values';
import { textIn } from '../sessions/frame.ts';
import type { ResponseChunk } from './chunk.ts';

/** A chunk of the AI SDK's UI message stream. */
export type UiChunk = { readonly type: string } & Readonly<Record<string, unknown>>;

/** The last chunks of an AI SDK stream. */
export const uiStreamEnd = 'data: [DONE]\n\n';

/** Converts chunks to the AI SDK's UI message stream, version 1. */
export class AiSdkStream {
  /** The current step: none, open, or open but empty because its content was withdrawn. */
  #step: 'none' | 'open' | 'empty' = 'none';
  /** The state at the end of the stream: a question, the end of the run, or neither yet. */
  #status: 'part' | 'question' | 'end' = 'part';

  /** Continues a message whose start the client already has. */
  resume(exchangeId: string): UiChunk {
    this.#step = 'open';
    return start(exchangeId);
  }

  /** Returns the last chunks. A client repeats a decision until it has an outcome, so a response without one must fail. */
  last(): UiChunk[] {
    if (this.#status === 'end') return [];
    if (this.#status === 'part') return [{ type: 'error', errorText: cutOff }];
    const finish = { type: 'finish', finishReason: 'tool-calls', messageMetadata: { status: 'waiting' } };
    return [...this.#endStep(), finish];
  }

  handle(chunk: ResponseChunk): UiChunk[] {
    switch (chunk.type) {
      case 'said':
        if (!chunk.isSteer) return [start(chunk.id)];
        return [{ type: 'steering-message', id: chunk.id, parts: chunk.content.map(uiPart) }];
      case 'answer':
        return this.#nextStep();
      case 'open':
        return [{ type: `${chunk.kind}-start`, id: chunk.id }];
      case 'more':
        return [{ type: `${chunk.kind}-delta`, id: chunk.id, delta: chunk.text }];
      case 'close':
        return [{ type: `${chunk.kind}-end`, id: chunk.id }];
      case 'void':
        this.#step = 'empty';
        return [{ type: 'reset-step' }];
      case 'waits':
        this.#status = 'question';
        return chunk.automaticCalls.flatMap(automaticApproval);
      case 'ended':
        this.#status = 'end';
        return [...this.#endStep(), ...endChunks(chunk.event)];
      case 'asked':
        if (chunk.request.limit === undefined) return callChunks(chunk);
        return [...this.#nextStep(), ...limitChunks(chunk)];
      case 'call':
      case 'decided':
      case 'result':
      case 'left':
        return callChunks(chunk);
      default:
        return assertNever(chunk);
    }
  }

  #nextStep(): UiChunk[] {
    const ended = this.#step === 'open' ? [{ type: 'finish-step' }] : [];
    const started = this.#step === 'empty' ? [] : [{ type: 'start-step' }];
    this.#step = 'open';
    return [...ended, ...started];
  }

  #endStep(): UiChunk[] {
    const isOpen = this.#step !== 'none';
    this.#step = 'none';
    return isOpen ? [{ type: 'finish-step' }] : [];
  }
}

const cutOff = 'The response was cut off before the run ended. Reload the page to see how the run continues.';

/** Marks a call that needs no decision: the client continues only when every call of the step is decided or done. */
function automaticApproval(toolCallId: string): UiChunk[] {
  const approvalId = `${toolCallId}-auto`;
  return [
    { type: 'tool-approval-request', approvalId, toolCallId, isAutomatic: true },
    { type: 'tool-approval-response', approvalId, approved: true },
  ];
}

/** Starts a message. Its id derives from the event that it responds to, so it is the same in every stream. */
function start(exchangeId: string): UiChunk {
  return { type: 'start', messageId: `${exchangeId}-answer` };
}

/** Shows the question about a limit like a call, because the protocol has approvals only for calls. */
function limitChunks(chunk: Extract<ResponseChunk, { type: 'asked' }>): UiChunk[] {
  const { toolName, arguments: input } = chunk.request;
  const call = { id: chunk.id, toolName, arguments: input };
  return [...callChunks({ type: 'call', answer: '', call }), ...callChunks(chunk)];
}

function callChunks(
  chunk: Extract<ResponseChunk, { type: 'call' | 'asked' | 'decided' | 'result' | 'left' }>,
): UiChunk[] {
  if (chunk.type === 'call') {
    const { id: toolCallId, toolName, arguments: input } = chunk.call;
    const call = { toolCallId, toolName, dynamic: true };
    return [
      { type: 'tool-input-start', ...call },
      { type: 'tool-input-available', ...call, input },
    ];
  }
  if (chunk.type === 'asked') {
    const { approvalId, hash, subject, summary, diff, expiresAt, limit } = chunk.request;
    const { allow, deny } = (limit && limitQuestion(limit)) ?? {};
    const approvalDescriptor = { subject, summary, diff, expiresAt, allow, deny };
    // The client returns the signature with its decision, so the decision applies to exactly the call that was shown.
    const request = { approvalId, toolCallId: chunk.id, approvalDescriptor, signature: hash };
    return [{ type: 'tool-approval-request', ...request }];
  }
  if (chunk.type === 'decided') {
    const { id: toolCallId, approvalId, allows: approved, reason, limit } = chunk;
    const response = { type: 'tool-approval-response', approvalId, approved, ...defined({ reason }) };
    if (limit === undefined) return [response];
    if (!approved) return [response, { type: 'tool-output-denied', toolCallId }];
    return [response, { type: 'tool-output-available', toolCallId, output: limitQuestion(limit).allow }];
  }
  const { id: toolCallId } = chunk;
  if (chunk.type === 'left') return [{ type: 'tool-output-error', toolCallId, errorText: chunk.why }];
  const { denied, isError, content } = chunk.event;
  if (denied === true && chunk.wasAsked) return [{ type: 'tool-output-denied', toolCallId }];
  if (isError) return [{ type: 'tool-output-error', toolCallId, errorText: textIn(content) }];
  const output = content.every(({ type }) => type === 'text') ? textIn(content) : content;
  return [{ type: 'tool-output-available', toolCallId, output }];
}

const finishReasons: Readonly<Record<RunStatus, string>> = {
  limit: 'other',
  cancelled: 'other',
  complete: 'stop',
  max_tokens: 'length',
  refusal: 'content-filter',
  waiting: 'tool-calls',
  failed: 'error',
  timeout: 'error',
};

function endChunks({ status, error, limit, runId }: RunEnd): UiChunk[] {
  if (status === 'cancelled') return [{ type: 'abort', reason: 'The run was cancelled.' }];
  const finishReason = finishReasons[status];
  const messageMetadata = { runId, status, ...defined({ limit }) };
  const errorText = error?.message ?? 'The run reached its time limit.';
  const failed = finishReason === 'error' ? [{ type: 'error', errorText }] : [];
  return [...failed, { type: 'finish', finishReason, messageMetadata }];
}

function uiPart(part: UserPart): Record<string, unknown> {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { mediaType, data, name: filename } = part;
  const url = `data:${mediaType};base64,${data}`;
  return { type: 'file', mediaType, url, ...defined({ filename }) };
}
