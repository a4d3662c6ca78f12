import type { RunEvent } from '../events/event.ts';
import { ignore } from '../events/event-groups.ts';
import { AgentError } from '../values/errors.ts';
import type { AssistantPart, ToolResultPart, UserPart } from '../values/message.ts';
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
  /**
   * Called with the result of a call. Calls that did not run because of a stopped batch or a cancellation have none.
   */
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
 * Passes each block of a response to the handler once: as it completes if the agent reports that, otherwise with the
 * complete response.
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

/** Returns a key that identifies a block, whether it is passed early or with the complete response. */
function nameOf(part: AssistantPart): string {
  if (part.type === 'tool_call') return `call ${part.id} ${part.toolName}`;
  return part.type === 'opaque' ? 'opaque' : `${part.type} ${part.text}`;
}

function textIn(content: readonly (UserPart | ToolResultPart)[]): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
