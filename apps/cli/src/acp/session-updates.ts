import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { AssistantMessage, RunEvent, UserPart } from '@cobbler/agent';
import type {
  AssistantEvent,
  CallItem,
  ConversationItem,
  ResponseItem,
  ToolResultEvent,
} from '@cobbler/agent/events';
import { emptyItems, foldItems, ignore } from '@cobbler/agent/events';
import type { ToolView } from './tool-view.ts';
import { callFacts, callId, contentBlock, diffContent, resultContent } from './tool-view.ts';

export interface UpdateView extends ToolView {
  /** Size of the model's context window in tokens, if known. */
  readonly contextTokens?: number;
  /** True to include user messages, which a client that has just opened a session does not have. */
  readonly replays?: boolean;
}

/** The state of the conversation before an event. */
interface HistorySummary {
  /** Number of responses in the log. */
  readonly responses: number;
  /** The calls without a result. */
  readonly open: readonly CallItem[];
}

/**
 * Converts the events of a session to updates of the Agent Client Protocol. Deltas are sent as they arrive; all other
 * updates come from the conversation items. The same events produce the same updates, live or from the store. Each
 * response has its own message id, even if it was cut off and restarted, because a client cannot be asked to remove a
 * message.
 */
export class SessionUpdates {
  readonly #view = emptyItems();
  /** Number of times that the current response was cut off and restarted. */
  #restarts = 0;
  /** Number of characters of the current response that were sent to the client. */
  #text = 0;
  #thought = 0;
  /** Cost in US dollars; null once a response has an unknown price. */
  #usd: number | null = 0;

  next(event: RunEvent, view: UpdateView): SessionUpdate[] {
    const before: HistorySummary = { responses: this.#view.state.answers, open: openCalls(this.#view.items) };
    const known = this.#view.items.length;
    foldItems(this.#view, event);
    const fresh = this.#view.items.slice(known);
    switch (event.type) {
      case 'user':
        return view.replays === true ? userChunks(event.content) : [];
      case 'history':
        return view.replays === true ? importedUpdates(fresh, before.responses) : [];
      case 'text_delta':
        this.#text += event.text.length;
        return chunks('agent_message_chunk', event.text, this.#messageId(before));
      case 'reasoning_delta':
        this.#thought += event.text.length;
        return chunks('agent_thought_chunk', event.text, this.#messageId(before));
      case 'assistant':
        return this.#completeResponse(event, fresh, before, view);
      case 'tool_started':
        return [update(callId(event), { status: 'in_progress' })];
      case 'tool_result':
        return [resultUpdate(event, before, view)];
      case 'ask_failed':
        return this.#cutOff(event.partial, before);
      case 'retry':
        this.#restart();
        return [];
      case 'finished': {
        this.#restart();
        // Calls that were cut off or never ran have no result event.
        const isWaiting = event.status === 'waiting';
        return isWaiting ? [] : before.open.map((call) => update(callId(call), { status: 'failed' }));
      }
      default:
        return ignore<'call' | 'note' | 'stream' | 'activity'>(event) ?? [];
    }
  }

  #completeResponse(
    event: AssistantEvent,
    fresh: readonly ConversationItem[],
    before: HistorySummary,
    view: UpdateView,
  ): SessionUpdate[] {
    const response = fresh.find((item) => item.kind === 'response');
    const id = this.#messageId(before);
    const updates = response === undefined ? [] : this.#partUpdates(response, id, view);
    this.#restarts = 0;
    this.#text = 0;
    this.#thought = 0;
    this.#usd = this.#usd === null || event.usd === undefined ? null : this.#usd + event.usd;
    return [...updates, ...usageUpdates(event, this.#usd, view)];
  }

  /** Returns updates for the parts of a complete response, without the text that was already sent. */
  #partUpdates({ parts, calls }: ResponseItem, id: string, view: UpdateView): SessionUpdate[] {
    let index = 0;
    return parts.flatMap((part): SessionUpdate[] => {
      switch (part.type) {
        case 'text':
        case 'reasoning':
          return this.#rest(part, id);
        case 'tool_call': {
          const call = calls[index++];
          if (call === undefined) return [];
          const toolCallId = callId(call);
          return [{ sessionUpdate: 'tool_call', toolCallId, status: 'pending', ...callFacts(part, view) }];
        }
        case 'opaque':
          return [];
        default:
          return ignore<never>(part) ?? [];
      }
    });
  }

  /** Returns updates for the part of a text that was not sent yet. */
  #rest(
    { type, text }: { readonly type: 'text' | 'reasoning'; readonly text: string },
    id: string,
  ): SessionUpdate[] {
    if (type === 'text') {
      const rest = chunks('agent_message_chunk', text.slice(this.#text), id);
      this.#text = Math.max(0, this.#text - text.length);
      return rest;
    }
    const rest = chunks('agent_thought_chunk', text.slice(this.#thought), id);
    this.#thought = Math.max(0, this.#thought - text.length);
    return rest;
  }

  /** Returns updates for the rest of a response that was cut off; for all of it when a session is loaded. */
  #cutOff(partial: AssistantMessage['content'] = [], before: HistorySummary): SessionUpdate[] {
    const wasShown = this.#text > 0 || this.#thought > 0;
    const id = this.#messageId(before);
    const updates = partial.flatMap((part) =>
      part.type === 'text' || part.type === 'reasoning' ? this.#rest(part, id) : [],
    );
    if (wasShown || updates.length > 0) this.#restarts += 1;
    this.#text = 0;
    this.#thought = 0;
    return updates;
  }

  /** Resets the state, because the current response will not be completed. */
  #restart(): void {
    if (this.#text === 0 && this.#thought === 0) return;
    this.#restarts += 1;
    this.#text = 0;
    this.#thought = 0;
  }

  #messageId({ responses }: HistorySummary): string {
    const id = messageId(responses + 1);
    return this.#restarts === 0 ? id : `${id}-${this.#restarts}`;
  }
}

/** Returns the calls of the latest response that have no result event. */
function openCalls(items: readonly ConversationItem[]): CallItem[] {
  const response = items.findLast((item) => item.kind === 'response');
  return response?.calls.filter((call) => call.report === undefined && call.result === undefined) ?? [];
}

/** Converts messages of other programs to updates, text only. */
function importedUpdates(fresh: readonly ConversationItem[], responses: number): SessionUpdate[] {
  let count = responses;
  return fresh.flatMap((item) => {
    if (item.kind === 'user') return userChunks(item.message.content);
    if (item.kind !== 'response') return [];
    count += 1;
    const id = messageId(count);
    return item.parts.flatMap((part) =>
      part.type === 'text' ? chunks('agent_message_chunk', part.text, id) : [],
    );
  });
}

function usageUpdates(
  { usage }: AssistantEvent,
  usd: number | null,
  { contextTokens }: UpdateView,
): SessionUpdate[] {
  if (contextTokens === undefined) return [];
  const used = usage.inputTokens + usage.outputTokens;
  const cost = usd === null ? {} : { cost: { amount: usd, currency: 'USD' } };
  return [{ sessionUpdate: 'usage_update', used, size: contextTokens, ...cost }];
}

/** Returns the update for a tool result. If it has a diff, the editor shows that and not the text for the model. */
function resultUpdate(event: ToolResultEvent, { open }: HistorySummary, view: UpdateView): SessionUpdate {
  const diff = event.diff === undefined || event.isError ? [] : diffContent(event.diff, view.folder);
  const text = event.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const shown =
    diff.length > 0 ? { content: diff, rawOutput: text } : { content: resultContent(event.content) };
  const isKnown = open.some((call) => callId(call) === callId(event));
  const facts = isKnown ? {} : callFacts({ toolName: event.toolName, arguments: {} }, view);
  return update(callId(event), { ...facts, status: event.isError ? 'failed' : 'completed', ...shown });
}

function userChunks(parts: readonly UserPart[]): SessionUpdate[] {
  return parts.map((part) => ({ sessionUpdate: 'user_message_chunk', content: contentBlock(part) }));
}

function chunks(
  sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk',
  text: string,
  id: string,
): SessionUpdate[] {
  return text === '' ? [] : [{ sessionUpdate, content: { type: 'text', text }, messageId: id }];
}

function messageId(response: number): string {
  return `answer-${response}`;
}

function update(
  toolCallId: string,
  facts: Omit<Extract<SessionUpdate, { sessionUpdate: 'tool_call_update' }>, 'sessionUpdate' | 'toolCallId'>,
): SessionUpdate {
  return { sessionUpdate: 'tool_call_update', toolCallId, ...facts };
}
