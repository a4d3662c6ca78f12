import type { Event, ToolResultPart, UserPart } from '@cobbler/agent';
import { fileKind } from '@cobbler/agent';
import type { ApprovalRequestedEvent, RunEnd } from '@cobbler/agent/events';
import { limitQuestion, visibleText } from '@cobbler/agent/events';
import { assertNever, defined } from '@cobbler/agent/values';
import { textIn } from '../sessions/frame.ts';
import type { ResponseChunk } from './chunk.ts';
import { MessageExchange } from './message-exchange.ts';

/** An AG-UI event. */
export type AgUiEvent = { readonly type: string } & Readonly<Record<string, unknown>>;

const protocolVersion = '1.0';

/** The client's ids of a run. */
export interface AgUiRun {
  readonly threadId: string;
  readonly runId: string;
}

/** Converts chunks to AG-UI 1.0 events. `void` has none: the protocol cannot undo output, so the caller sends a snapshot. */
export class AgUiStream {
  readonly #run: AgUiRun;
  /** The message that contains the calls of this response. */
  #message = '';
  /** The open questions, by the id of the call or of the approval of a limit. */
  readonly #requests = new Map<string, Readonly<Record<string, unknown>>>();
  #status: 'part' | 'question' | 'end' = 'part';

  constructor(run: AgUiRun) {
    this.#run = run;
  }

  start(): AgUiEvent {
    return { type: 'RUN_STARTED', ...this.#run, protocolVersion };
  }

  /** Returns the last events of the response. */
  last(): AgUiEvent[] {
    if (this.#status === 'end') return [];
    if (this.#status === 'question') return [this.#interrupted()];
    const message =
      'The response was cut off before the run ended. To follow the rest of the run, send the request again with the same run id.';
    return [{ type: 'RUN_ERROR', message, code: 'cut' }];
  }

  handle(chunk: ResponseChunk): AgUiEvent[] {
    switch (chunk.type) {
      case 'said':
        // Skip the prompt of the run, because the client already has it.
        return chunk.isSteer ? userMessage(chunk.id, chunk.content) : [];
      case 'answer':
        this.#message = chunk.id;
        return [];
      case 'open':
        if (chunk.kind === 'text') this.#message = chunk.id;
        return startEvents(chunk.kind, chunk.id);
      case 'more': {
        const name = chunk.kind === 'text' ? 'TEXT_MESSAGE_CONTENT' : 'REASONING_MESSAGE_CONTENT';
        return [{ type: name, messageId: chunk.id, delta: chunk.text }];
      }
      case 'close':
        return endEvents(chunk.kind, chunk.id);
      case 'void':
        return [];
      case 'asked':
        this.#requests.set(chunk.id, interrupt(chunk.id, chunk.request));
        return [];
      case 'decided':
        this.#requests.delete(chunk.id);
        return [];
      case 'call':
        return callEvents(chunk.call.id, chunk.call.toolName, chunk.call.arguments, this.#message);
      case 'result':
        return [resultEvent(chunk.event.id, chunk.id, chunk.event.content, chunk.event.isError)];
      case 'left':
        this.#requests.delete(chunk.id);
        return [leftCall(chunk)];
      case 'waits':
        this.#status = 'question';
        return [];
      case 'ended':
        this.#status = 'end';
        return [this.#endEvent(chunk.event)];
    }
  }

  #endEvent({ status, error, limit }: RunEnd): AgUiEvent {
    const finished = { type: 'RUN_FINISHED', ...this.#run };
    const success = {
      ...finished,
      outcome: { type: 'success' },
      result: { status, ...defined({ limit }) },
    };
    switch (status) {
      case 'failed':
      case 'timeout': {
        const message = error?.message ?? 'The run reached its time limit.';
        return { type: 'RUN_ERROR', message, code: error?.code ?? error?.kind ?? status };
      }
      case 'cancelled':
        return { ...finished, outcome: { type: 'cancelled' } };
      case 'waiting':
        // When a waiting run is streamed again, the client receives only the open questions.
        return this.#requests.size > 0 ? this.#interrupted() : success;
      case 'complete':
      case 'max_tokens':
      case 'refusal':
      case 'limit':
        return success;
      default:
        return assertNever(status);
    }
  }

  #interrupted(): AgUiEvent {
    const interrupts = [...this.#requests.values()];
    return { type: 'RUN_FINISHED', ...this.#run, outcome: { type: 'interrupt', interrupts } };
  }
}

/** Returns an approval request whose id identifies this call or limit, so that a decision cannot apply to another. */
function interrupt(toolCallId: string, request: ApprovalRequestedEvent): Record<string, unknown> {
  const { approvalId, hash, toolName, expiresAt, subject, summary, diff, limit } = request;
  const common = {
    id: `${approvalId}.${hash}`,
    ...(expiresAt !== undefined && { expiresAt: new Date(expiresAt).toISOString() }),
  };
  if (limit !== undefined) {
    const { text, allow, deny } = limitQuestion(limit);
    return {
      ...common,
      reason: 'confirmation',
      message: visibleText(text, 'name'),
      responseSchema: responseSchema({ more: { type: 'number', exclusiveMinimum: 0 } }),
      metadata: { limit, allow, deny },
    };
  }
  return {
    ...common,
    reason: 'tool_call',
    message: visibleText(
      subject === undefined ? `Allow ${toolName}?` : `Allow ${toolName}: ${subject}?`,
      'name',
    ),
    toolCallId,
    responseSchema: responseSchema({ message: { type: 'string' } }),
    metadata: { toolName, arguments: request.arguments, subject, summary, diff },
  };
}

function responseSchema(properties: Record<string, unknown>): Record<string, unknown> {
  return {
    type: 'object',
    properties: { approved: { type: 'boolean' }, ...properties },
    required: ['approved'],
  };
}

function userMessage(messageId: string, content: readonly UserPart[]): AgUiEvent[] {
  return [
    { type: 'TEXT_MESSAGE_START', messageId, role: 'user' },
    { type: 'TEXT_MESSAGE_CONTENT', messageId, delta: textIn(content) },
    { type: 'TEXT_MESSAGE_END', messageId },
  ];
}

function startEvents(kind: 'text' | 'reasoning', messageId: string): AgUiEvent[] {
  if (kind === 'text') return [{ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant' }];
  return [
    { type: 'REASONING_START', messageId },
    { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' },
  ];
}

function endEvents(kind: 'text' | 'reasoning', messageId: string): AgUiEvent[] {
  if (kind === 'text') return [{ type: 'TEXT_MESSAGE_END', messageId }];
  return [
    { type: 'REASONING_MESSAGE_END', messageId },
    { type: 'REASONING_END', messageId },
  ];
}

function callEvents(toolCallId: string, name: string, args: unknown, parentMessageId: string): AgUiEvent[] {
  return [
    { type: 'TOOL_CALL_START', toolCallId, toolCallName: name, parentMessageId },
    { type: 'TOOL_CALL_ARGS', toolCallId, delta: JSON.stringify(args) },
    { type: 'TOOL_CALL_END', toolCallId },
  ];
}

function resultEvent(
  messageId: string,
  toolCallId: string,
  content: readonly ToolResultPart[],
  isError: boolean,
): AgUiEvent {
  const message = { messageId, toolCallId, role: 'tool', content: contentOf(content) };
  return { type: 'TOOL_CALL_RESULT', ...message, ...(isError && { metadata: { isError } }) };
}

/** Returns the result of such a call. It has no event, so its id derives from the call and is the same in every stream. */
function leftCall({ id, why }: Extract<ResponseChunk, { type: 'left' }>): AgUiEvent {
  return resultEvent(`${id}-left`, id, [{ type: 'text', text: why }], true);
}

type AgUiMessage = Record<string, unknown> & { readonly id: string; readonly role?: unknown };

/**
 * Returns the messages of a log as stored by a client that received every event. A client keeps the position of known
 * messages and appends the others, and replaces reasoning only with other reasoning, so the snapshot is preceded by
 * an empty one.
 */
export function agUiSnapshot(events: readonly Event[]): AgUiEvent[] {
  const messages = new Map<string, AgUiMessage>();
  const exchange = new MessageExchange();
  let owner = '';
  const add = ({ type: _, messageId, ...rest }: AgUiEvent) => {
    messages.set(String(messageId), { ...rest, id: String(messageId) });
  };
  for (const chunk of events.flatMap((event) => exchange.handle(event))) {
    switch (chunk.type) {
      case 'said':
        messages.set(chunk.id, { id: chunk.id, role: 'user', content: contentOf(chunk.content) });
        break;
      case 'answer':
        owner = chunk.id;
        break;
      case 'more': {
        const role = chunk.kind === 'text' ? 'assistant' : 'reasoning';
        messages.set(chunk.id, { id: chunk.id, role, content: chunk.text });
        if (chunk.kind === 'text') owner = chunk.id;
        break;
      }
      case 'call': {
        const message = messages.get(owner) ?? { id: owner, role: 'assistant' };
        const { id, toolName: name, arguments: args } = chunk.call;
        const call = { id, type: 'function', function: { name, arguments: JSON.stringify(args) } };
        const calls = Array.isArray(message['toolCalls']) ? message['toolCalls'] : [];
        messages.set(owner, { ...message, toolCalls: [...calls, call] });
        break;
      }
      case 'result':
        add(resultEvent(chunk.event.id, chunk.id, chunk.event.content, chunk.event.isError));
        break;
      case 'left':
        add(leftCall(chunk));
        break;
      case 'open':
      case 'close':
      case 'void':
      case 'asked':
      case 'decided':
      case 'waits':
      case 'ended':
        break;
      default:
        assertNever(chunk);
    }
  }
  const all = [...messages.values()];
  const thought = { id: 'none', role: 'reasoning', content: '' };
  const none = all.some(({ role }) => role === 'reasoning') ? [thought] : [];
  return [none, all].map((some) => ({ type: 'MESSAGES_SNAPSHOT', messages: some }));
}

function contentOf(content: readonly UserPart[]): unknown {
  if (content.every(({ type }) => type === 'text')) return textIn(content);
  return content.map((part) => {
    if (part.type === 'text') return part;
    const type = fileKind(part.mediaType) === 'image' ? 'image' : 'document';
    return { type, source: { type: 'data', value: part.data, mimeType: part.mediaType } };
  });
}
