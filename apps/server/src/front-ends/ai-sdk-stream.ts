import type { RunStatus, ToolResultPart, UserPart } from '@cobbler/agent';
import type { RunEnd } from '@cobbler/agent/events';
import { assertNever, defined } from '@cobbler/agent/values';
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
  #told: 'part' | 'question' | 'end' = 'part';

  /** Continues a message whose start the client already has. */
  goOn(exchangeId: string): UiChunk {
    this.#step = 'open';
    return start(exchangeId);
  }

  /**
   * Returns the last chunks of the response. A client sends a decision again until it has an outcome, so a response
   * without the outcome must fail.
   */
  last(): UiChunk[] {
    if (this.#told === 'end') return [];
    if (this.#told === 'part') return [{ type: 'error', errorText: cutOff }];
    const finish = { type: 'finish', finishReason: 'tool-calls', messageMetadata: { status: 'waiting' } };
    return [...this.#endStep(), finish];
  }

  hear(piece: ResponseChunk): UiChunk[] {
    switch (piece.type) {
      case 'said':
        if (!piece.isSteer) return [start(piece.id)];
        return [{ type: 'steering-message', id: piece.id, parts: piece.content.map(uiPart) }];
      case 'answer':
        return this.#nextStep();
      case 'open':
        return [{ type: `${piece.kind}-start`, id: piece.id }];
      case 'more':
        return [{ type: `${piece.kind}-delta`, id: piece.id, delta: piece.text }];
      case 'close':
        return [{ type: `${piece.kind}-end`, id: piece.id }];
      case 'void':
        this.#step = 'empty';
        return [{ type: 'reset-step' }];
      case 'waits':
        this.#told = 'question';
        return piece.unasked.flatMap(automatic);
      case 'ended':
        this.#told = 'end';
        return [...this.#endStep(), ...endChunks(piece.event)];
      case 'call':
      case 'asked':
      case 'decided':
      case 'result':
      case 'left':
        return callChunks(piece);
      default:
        return assertNever(piece);
    }
  }

  #nextStep(): UiChunk[] {
    const ended = this.#step === 'open' ? [{ type: 'finish-step' }] : [];
    const begun = this.#step === 'empty' ? [] : [{ type: 'start-step' }];
    this.#step = 'open';
    return [...ended, ...begun];
  }

  #endStep(): UiChunk[] {
    const isOpen = this.#step !== 'none';
    this.#step = 'none';
    return isOpen ? [{ type: 'finish-step' }] : [];
  }
}

const cutOff = 'The response was cut off before the run ended. Reload the page to see how the run continues.';

/** Marks a call that needs no decision: the client continues only when every call of the step is decided or done. */
function automatic(toolCallId: string): UiChunk[] {
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

function callChunks(
  piece: Extract<ResponseChunk, { type: 'call' | 'asked' | 'decided' | 'result' | 'left' }>,
): UiChunk[] {
  if (piece.type === 'call') {
    const { id: toolCallId, toolName, arguments: input } = piece.call;
    const call = { toolCallId, toolName, dynamic: true };
    return [
      { type: 'tool-input-start', ...call },
      { type: 'tool-input-available', ...call, input },
    ];
  }
  if (piece.type === 'asked') {
    const { approvalId, hash, subject, summary, diff, expiresAt } = piece.request;
    const approvalDescriptor = { subject, summary, diff, expiresAt };
    // The client returns the signature with its decision, so the decision applies to exactly the call that was shown.
    const request = { approvalId, toolCallId: piece.id, approvalDescriptor, signature: hash };
    return [{ type: 'tool-approval-request', ...request }];
  }
  if (piece.type === 'decided') {
    const { approvalId, allows: approved, reason } = piece;
    return [{ type: 'tool-approval-response', approvalId, approved, ...defined({ reason }) }];
  }
  const { id: toolCallId } = piece;
  if (piece.type === 'left') return [{ type: 'tool-output-error', toolCallId, errorText: piece.why }];
  const { denied, isError, content } = piece.event;
  if (denied === true && piece.wasAsked) return [{ type: 'tool-output-denied', toolCallId }];
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

function textIn(content: readonly ToolResultPart[]): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
