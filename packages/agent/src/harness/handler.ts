import type { RunEvent } from '../events/event.ts';
import { ignore } from '../events/event-groups.ts';
import { AgentError } from '../values/errors.ts';
import type { AssistantPart } from '../values/message.ts';
import { textIn } from '../values/message.ts';
import type { Usage } from '../values/usage.ts';

/** The state of a conversation: `waiting` for a user; `error` if the last run failed. */
export type HarnessStatus = 'thinking' | 'running_tool' | 'waiting' | 'idle' | 'error';

/**
 * Receives the events of a conversation, synchronously and in order. Its methods must not block, and all are
 * optional. Blocks are passed as they complete. After an `onEvent` of type `retry`, the blocks already passed for
 * that response are void and will be passed again.
 */
export interface HarnessHandler {
  /** Called with the text of each user message. */
  onUser?(content: string): void;
  /** Called with each complete text block of the model. */
  onText?(text: string): void;
  onReasoning?(text: string): void;
  /** Called for each tool call that the model makes. The id is the provider's and can repeat in another response. */
  onToolCall?(id: string, name: string, input: Record<string, unknown>): void;
  /** Called with the result of a call. Calls that did not run because of a stopped batch or a cancellation have none. */
  onToolResult?(id: string, result: string, isError: boolean): void;
  onStatus?(state: HarnessStatus, message?: string): void;
  /** Called with the usage of each response. */
  onUsage?(usage: Usage): void;
  /** Called for every event, stored or live, before the more specific method above. */
  onEvent?(event: RunEvent): void;
}

/**
 * Returns a function that passes events to a handler. An error that the handler throws has no effect and is reported
 * once.
 *
 * @param report Default: the handler's own `onStatus`, with `error`.
 */
export function notifyHandler(
  handler: HarnessHandler,
  report: (error: AgentError) => void = (error) => handler.onStatus?.('error', error.message),
): (event: RunEvent) => void {
  let hasReported = false;
  const notify: Notify = (method, ...args) => {
    const failed = (thrown: unknown) => {
      if (hasReported) return;
      hasReported = true;
      const { name, message } = AgentError.from(thrown);
      const error = { kind: 'invalid', code: 'handler', message: `${method} threw: ${message}` } as const;
      try {
        report(new AgentError({ ...error, cause: { name, message } }));
      } catch {}
    };
    try {
      const listener = handler[method];
      const returned: unknown = listener && Reflect.apply(listener, handler, args);
      if (returned instanceof Promise) returned.catch(failed);
    } catch (thrown) {
      failed(thrown);
    }
  };
  const blocks = new Blocks((block) => notifyBlock(block, notify));
  return (event) => {
    notify('onEvent', event);
    notifyEvent(event, notify);
    blocks.handle(event);
    if (event.type === 'assistant') notify('onUsage', event.usage);
  };
}

/** Calls a method of the handler, if it has it. */
type Notify = <Method extends keyof HarnessHandler>(
  method: Method,
  ...args: Parameters<NonNullable<HarnessHandler[Method]>>
) => void;

function notifyEvent(event: RunEvent, notify: Notify): void {
  switch (event.type) {
    case 'user':
      return notify('onUser', textIn(event.content));
    case 'tool_result':
      return notify('onToolResult', event.callId, textIn(event.content), event.isError);
    case 'status':
      return notify('onStatus', event.state, event.message);
    case 'finished':
      if (event.status === 'failed') return notify('onStatus', 'error', event.error?.message);
      return notify('onStatus', event.status === 'waiting' ? 'waiting' : 'idle');
    default:
      return ignore<'input' | 'response' | 'call' | 'note' | 'stream' | 'activity'>(event);
  }
}

/** A part of a response that the handler receives. */
type Block = Exclude<AssistantPart, { type: 'opaque' }>;

function notifyBlock(block: Block, notify: Notify): void {
  if (block.type === 'text') notify('onText', block.text);
  else if (block.type === 'reasoning') notify('onReasoning', block.text);
  else notify('onToolCall', block.id, block.toolName, block.arguments);
}

/** Passes each block of a response to the handler once: as it completes, or with the complete response. */
class Blocks {
  readonly #emit: (block: Block) => void;
  #emitted: string[] = [];

  constructor(emit: (block: Block) => void) {
    this.#emit = emit;
  }

  handle(event: RunEvent): void {
    switch (event.type) {
      case 'text':
      case 'reasoning':
        return this.#early({ type: event.type, text: event.text });
      case 'tool_call':
        return this.#early({ type: 'tool_call', ...event.call });
      case 'assistant':
        return this.#rest(event.content);
      case 'ask_failed':
        return this.#rest(event.partial ?? []);
      case 'retry':
      case 'started':
        this.#emitted = [];
        return;
      default:
        return ignore<'input' | 'call' | 'note' | 'end' | 'stream' | 'activity'>(event);
    }
  }

  #early(block: Block): void {
    this.#emitted.push(nameOf(block));
    this.#emit(block);
  }

  #rest(content: readonly AssistantPart[]): void {
    const emitted = this.#emitted.splice(0);
    for (const part of content) {
      if (part.type === 'opaque' || (part.type !== 'tool_call' && part.text === '')) continue;
      const before = emitted.indexOf(nameOf(part));
      if (before === -1) this.#emit(part);
      else emitted.splice(before, 1);
    }
  }
}

/** Returns a key that identifies a block, whether it is passed early or with the complete response. */
function nameOf(block: Block): string {
  if (block.type === 'tool_call') return `call ${block.id} ${block.toolName}`;
  return `${block.type} ${block.text}`;
}
