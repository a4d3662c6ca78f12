import type { RunEvent } from '../events/event.ts';
import { ignore } from '../events/event-groups.ts';
import { AgentError } from '../values/errors.ts';
import type { AssistantPart, ToolResultPart, UserPart } from '../values/message.ts';
import type { Usage } from '../values/usage.ts';

/** What a conversation is doing: `waiting` for a person; `error` when the last run failed. */
export type HarnessStatus = 'thinking' | 'running_tool' | 'waiting' | 'idle' | 'error';

/**
 * Hears what happens in a conversation, synchronously and in order; it must not block. All methods may be
 * left out. Blocks are told whole, as they complete: after an `onEvent` of type `retry` the blocks of that
 * answer told so far are void and will be told again.
 */
export interface HarnessHandler {
  /** The user sent a message; only its text is passed. */
  onUser?(content: string): void;
  /** A text block of the model, whole. */
  onText?(text: string): void;
  onReasoning?(text: string): void;
  /** The model calls a tool. The id is the provider's and may repeat in another answer. */
  onToolCall?(id: string, name: string, input: Record<string, unknown>): void;
  /** A call has its answer. Calls that a stopped batch or a cancel leaves unrun have none. */
  onToolResult?(id: string, result: string, isError: boolean): void;
  onStatus?(state: HarnessStatus, message?: string): void;
  /** What one answer of the model used. */
  onUsage?(usage: Usage): void;
  /** Every event, stored or live, before the method above that it leads to. */
  onEvent?(event: RunEvent): void;
}

/**
 * Turns events into calls of a handler. What it throws changes nothing and is reported once.
 *
 * @param report Default: the handler's own `onStatus`, as `error`.
 */
export function notifyHandler(
  handler: HarnessHandler,
  report: (error: AgentError) => void = (error) => handler.onStatus?.('error', error.message),
): (event: RunEvent) => void {
  let hasReported = false;
  const tell = (method: keyof HarnessHandler, call: () => unknown) => {
    const failed = (thrown: unknown) => {
      if (hasReported) return;
      hasReported = true;
      const { message, code, ...cause } = AgentError.from(thrown);
      const error = { kind: 'invalid', code: 'handler', message: `${method} threw: ${message}` } as const;
      quietly(() => report(new AgentError({ ...error, cause: { name: cause.name, message } })));
    };
    try {
      const returned = call();
      if (returned instanceof Promise) returned.catch(failed);
    } catch (thrown) {
      failed(thrown);
    }
  };
  const blocks = new Blocks((part) => blockSteps(handler, part, tell));
  return (event) => {
    tell('onEvent', () => handler.onEvent?.(event));
    tellEvent(handler, event, tell);
    blocks.hear(event);
    if (event.type === 'assistant') tell('onUsage', () => handler.onUsage?.(event.usage));
  };
}

type Tell = (method: keyof HarnessHandler, call: () => unknown) => void;

function quietly(report: () => void): void {
  try {
    report();
  } catch {}
}

function tellEvent(handler: HarnessHandler, event: RunEvent, tell: Tell): void {
  switch (event.type) {
    case 'user':
      return tell('onUser', () => handler.onUser?.(textIn(event.content)));
    case 'tool_result':
      return tell('onToolResult', () =>
        handler.onToolResult?.(event.callId, textIn(event.content), event.isError),
      );
    case 'status':
      return tell('onStatus', () => handler.onStatus?.(event.state, event.message));
    case 'finished':
      return tell('onStatus', () => {
        if (event.status === 'failed') handler.onStatus?.('error', event.error?.message);
        else handler.onStatus?.(event.status === 'waiting' ? 'waiting' : 'idle');
      });
    default:
      return ignore<'input' | 'response' | 'call' | 'note' | 'stream' | 'activity'>(event);
  }
}

function blockSteps(handler: HarnessHandler, part: AssistantPart, tell: Tell): void {
  switch (part.type) {
    case 'text':
      return tell('onText', () => handler.onText?.(part.text));
    case 'reasoning':
      return tell('onReasoning', () => handler.onReasoning?.(part.text));
    case 'tool_call':
      return tell('onToolCall', () => handler.onToolCall?.(part.id, part.toolName, part.arguments));
    case 'opaque':
      return;
    default:
      return ignore<never>(part);
  }
}

/**
 * Tells each block of an answer once: as it completes where the agent says so, else when the answer is there.
 */
class Blocks {
  readonly #tell: (part: AssistantPart) => void;
  #told: string[] = [];

  constructor(tell: (part: AssistantPart) => void) {
    this.#tell = tell;
  }

  hear(event: RunEvent): void {
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
        this.#told = [];
        return;
      default:
        return ignore<'input' | 'call' | 'note' | 'end' | 'stream' | 'activity'>(event);
    }
  }

  #early(part: AssistantPart): void {
    this.#told.push(nameOf(part));
    this.#tell(part);
  }

  #rest(content: readonly AssistantPart[]): void {
    const told = this.#told.splice(0);
    for (const part of content) {
      if (part.type === 'opaque' || (part.type !== 'tool_call' && part.text === '')) continue;
      const before = told.indexOf(nameOf(part));
      if (before === -1) this.#tell(part);
      else told.splice(before, 1);
    }
  }
}

/** What makes a block the same whether it is told early or late. */
function nameOf(part: AssistantPart): string {
  if (part.type === 'tool_call') return `call ${part.id} ${part.toolName}`;
  return part.type === 'opaque' ? 'opaque' : `${part.type} ${part.text}`;
}

function textIn(content: readonly (UserPart | ToolResultPart)[]): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
