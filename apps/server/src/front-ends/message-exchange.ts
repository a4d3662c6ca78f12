import type { Event, RunEvent } from '@cobbler/agent';
import type {
  ApprovalDecidedEvent,
  ApprovalRequestedEvent,
  AssistantEvent,
  RunEnd,
} from '@cobbler/agent/events';
import { ignore } from '@cobbler/agent/events';
import { defined } from '@cobbler/agent/values';
import type { ResponseChunk } from './chunk.ts';
import { ResponseBlocks } from './response-blocks.ts';

/** A call of the last response that may still get a result. */
interface StreamedCall {
  readonly id: string;
  isStarted: boolean;
  isDone: boolean;
  approvalId?: string;
  isDecided?: boolean;
}

/**
 * A user message and its response, up to the next message: converts events to chunks. Every id derives from the log
 * alone, so that all readers of the same events get the same ids. Events before the first message belong to an
 * earlier exchange and are skipped.
 */
export class MessageExchange {
  #id = '';
  #answers = 0;
  #calls: StreamedCall[] = [];
  /** The open question whether the run continues beyond a limit. */
  #question: ApprovalRequestedEvent | undefined;
  #blocks: ResponseBlocks | undefined;
  /** Steering messages without a position yet: the fold inserts nothing between a response and its tool results. */
  #steering: ResponseChunk[] = [];
  /** True if the last response is final so far, so that a steering message follows it directly. */
  #isAnswered = false;
  /** True if the current response was received from its start. */
  #isStreaming = false;

  /** The id of the event with the user message; empty before that. */
  get id(): string {
    return this.#id;
  }

  handle(event: RunEvent): ResponseChunk[] {
    if (event.type === 'user') return this.#userChunks(event);
    if (this.#id === '') return event.type === 'finished' ? [{ type: 'ended', event }] : [];
    switch (event.type) {
      case 'status':
        this.#isStreaming ||= event.state === 'thinking';
        return event.state === 'waiting' ? this.waits() : [];
      case 'text_delta':
      case 'reasoning_delta': {
        const kind = event.type === 'text_delta' ? 'text' : 'reasoning';
        return this.#live((blocks) => blocks.delta(kind, event.index, event.text));
      }
      case 'text':
      case 'reasoning':
        return this.#live((blocks) => blocks.whole(event.type, event.index, event.text));
      case 'tool_call':
        return this.#live((blocks) => blocks.call(event.call));
      case 'retry':
        return this.#void();
      case 'ask_failed':
        return event.partial === undefined ? this.#void() : this.#endEarly(event.partial);
      case 'assistant':
        return this.#commit(event);
      case 'finished':
        return this.#end(event);
      case 'tool_started':
      case 'tool_result':
      case 'approval_requested':
        return this.#ofCall(event);
      case 'approval_decided':
        return this.#decisionChunks(event);
      case 'step':
        return [];
      default:
        return ignore<'input' | 'note' | 'stream' | 'activity'>(event) ?? [];
    }
  }

  #userChunks({ id, content, steer }: Extract<Event, { type: 'user' }>): ResponseChunk[] {
    if (steer === true) {
      if (this.#id === '') return [];
      this.#steering.push({ type: 'said', id, content, isSteer: true });
      return this.#isAnswered ? this.#takeSteering() : [];
    }
    const left = [...this.#endOpenCalls(), ...this.#takeSteering()];
    this.#id = id;
    this.#answers = 0;
    this.#calls = [];
    this.#blocks = undefined;
    this.#isStreaming = false;
    this.#isAnswered = false;
    return [...left, { type: 'said', id, content, isSteer: false }];
  }

  #live(tell: (blocks: ResponseBlocks) => ResponseChunk[]): ResponseChunk[] {
    if (!this.#isStreaming) return [];
    const [started, blocks] = this.#startResponse();
    return [...started, ...tell(blocks)];
  }

  /** Returns the blocks of the current response, and the chunks that start a response. */
  #startResponse(): [ResponseChunk[], ResponseBlocks] {
    if (this.#blocks !== undefined) return [[], this.#blocks];
    const left = this.#endOpenCalls();
    this.#answers += 1;
    const id = `${this.#id}-${this.#answers}`;
    const blocks = new ResponseBlocks(id);
    this.#blocks = blocks;
    return [[...left, { type: 'answer', id }], blocks];
  }

  #commit(event: AssistantEvent & { id: string }): ResponseChunk[] {
    const chunks: ResponseChunk[] = [];
    if (this.#blocks?.fits(event.content) === false) chunks.push(...this.#void());
    const [started, blocks] = this.#startResponse();
    chunks.push(...started, ...blocks.commit(event.content));
    this.#calls = blocks.calls.map((id) => ({ id, isStarted: false, isDone: false }));
    this.#blocks = undefined;
    this.#isStreaming = false;
    this.#isAnswered = this.#calls.length === 0 && event.stopReason !== 'pause';
    return this.#isAnswered ? [...chunks, ...this.#takeSteering()] : chunks;
  }

  /** Keeps the text of an incomplete response and discards its calls. */
  #endEarly(partial: AssistantEvent['content']): ResponseChunk[] {
    const voided = this.#blocks?.fits(partial) === false ? this.#void() : [];
    const [started, blocks] = this.#startResponse();
    const chunks = [...voided, ...started, ...blocks.commit(partial), ...blocks.close()];
    this.#calls = [];
    this.#blocks = undefined;
    this.#isStreaming = false;
    return chunks;
  }

  #void(): ResponseChunk[] {
    const blocks = this.#blocks;
    if (blocks === undefined) return [];
    this.#blocks = undefined;
    this.#answers -= 1;
    return [...blocks.close(), { type: 'void' }];
  }

  #end(event: RunEnd): ResponseChunk[] {
    const voided = this.#void();
    this.#isStreaming = false;
    const rest =
      event.status === 'waiting' ? this.waits() : [...this.#endOpenCalls(), ...this.#takeSteering()];
    return [...voided, ...rest, { type: 'ended', event }];
  }

  /** Returns the chunks that follow all others when a user must decide; none if no question is open. */
  waits(): ResponseChunk[] {
    const open = this.#calls.filter(({ isDone }) => !isDone);
    const isAsked = open.some(({ approvalId, isDecided }) => approvalId !== undefined && isDecided !== true);
    if (!isAsked && this.#question === undefined) return [];
    return [
      {
        type: 'waits',
        automaticCalls: open.flatMap((call) => (call.approvalId === undefined ? call.id : [])),
      },
    ];
  }

  #decisionChunks({ approvalId, decision, message, more }: ApprovalDecidedEvent): ResponseChunk[] {
    const call = this.#calls.find((call) => call.approvalId === approvalId);
    const asked = this.#question?.approvalId === approvalId ? this.#question.limit : undefined;
    const id = call?.id ?? approvalId;
    if (call !== undefined) call.isDecided = true;
    else if (asked === undefined) return [];
    else this.#question = undefined;
    const limit = asked && { ...asked, ...defined({ more }) };
    const reason = message ?? (decision === 'allow' || decision === 'deny' ? undefined : decision);
    return [{ type: 'decided', id, approvalId, allows: decision === 'allow', ...defined({ reason, limit }) }];
  }

  #ofCall(
    event: Extract<Event, { type: 'tool_started' | 'tool_result' | 'approval_requested' }>,
  ): ResponseChunk[] {
    if (event.type === 'approval_requested' && event.limit !== undefined) {
      const replaced = this.#endQuestion();
      this.#question = event;
      return [...replaced, { type: 'asked', id: event.approvalId, request: event }];
    }
    const call = this.#calls[event.index];
    if (call === undefined) return [];
    if (event.type === 'tool_started') {
      call.isStarted = true;
      return [];
    }
    if (event.type === 'approval_requested') {
      call.approvalId = event.approvalId;
      return [{ type: 'asked', id: call.id, request: event }];
    }
    call.isDone = true;
    const result: ResponseChunk = {
      type: 'result',
      id: call.id,
      event,
      wasAsked: call.approvalId !== undefined,
    };
    return this.#calls.every(({ isDone }) => isDone) ? [result, ...this.#takeSteering()] : [result];
  }

  /** Inserts the steering messages at this position. */
  #takeSteering(): ResponseChunk[] {
    const steering = this.#steering;
    this.#steering = [];
    if (steering.length > 0) this.#isAnswered = false;
    return steering;
  }

  /** Closes the question about a limit if its run ended before the answer: a run that continues asks again. */
  #endQuestion(): ResponseChunk[] {
    const { approvalId, limit } = this.#question ?? {};
    this.#question = undefined;
    if (approvalId === undefined || limit === undefined) return [];
    const reason = 'The run ended before the decision was made.';
    return [{ type: 'decided', id: approvalId, approvalId, allows: false, reason, limit }];
  }

  /** Closes calls that will not get a result, and a question, because the conversation continued without them. */
  #endOpenCalls(): ResponseChunk[] {
    const question = this.#endQuestion();
    const left = this.#calls.filter(({ isDone }) => !isDone);
    const chunks = left.map((call): ResponseChunk => {
      call.isDone = true;
      const why = call.isStarted ? 'The outcome of this call is unknown.' : 'This call was not run.';
      return { type: 'left', id: call.id, why };
    });
    return left.length === 0 ? question : [...question, ...chunks, ...this.#takeSteering()];
  }
}
