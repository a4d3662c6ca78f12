import type { SessionUpdate } from '@agentclientprotocol/sdk';
import type { Message, RunEvent, UserPart } from '@cobbler/agent';
import type { AssistantEvent, HistoryEvent, ToolResultEvent } from '@cobbler/agent/events';
import { ignore } from '@cobbler/agent/events';
import type { ToolView } from './tool-view.ts';
import { callFacts, callId, contentBlock, diffContent, resultContent } from './tool-view.ts';

/** The client's knowledge of a session so far: everything needed to convert the next event to updates. */
export interface SentUpdate {
  /** Answers of the model that are in the log. */
  readonly answers: number;
  /** Number of times the current response was started and broke off. */
  readonly torn: number;
  /** Characters of the current response. */
  readonly text: number;
  readonly thought: number;
  /** Calls without a result. */
  readonly open: readonly string[];
  /** US dollars; null from the first answer on whose price is unknown. */
  readonly usd: number | null;
}

/** Nothing yet. */
export const nothingTold: SentUpdate = { answers: 0, torn: 0, text: 0, thought: 0, open: [], usd: 0 };

export interface UpdateView extends ToolView {
  /** Size of the model's window in tokens, when known. */
  readonly contextTokens?: number;
  /** Tells what people said too: a client that has just opened a session does not know it. */
  readonly replays?: boolean;
}

/** The next updates, and the state after them. */
export interface Telling {
  readonly told: SentUpdate;
  readonly updates: readonly SessionUpdate[];
}

/**
 * Converts events of the harness to updates of the Agent Client Protocol. Pure: the same events give the same updates,
 * live or from the store. Each response has its own message id, also one that broke off and started again, because a
 * client cannot be asked to drop a message.
 */
export function sessionUpdates(told: SentUpdate, event: RunEvent, view: UpdateView): Telling {
  switch (event.type) {
    case 'user':
      return { told, updates: view.replays === true ? userChunks(event.content) : [] };
    case 'history':
      return history(told, event, view);
    case 'text_delta':
      return {
        told: { ...told, text: told.text + event.text.length },
        updates: chunks('agent_message_chunk', event.text, told),
      };
    case 'reasoning_delta':
      return {
        told: { ...told, thought: told.thought + event.text.length },
        updates: chunks('agent_thought_chunk', event.text, told),
      };
    case 'assistant':
      return answered(told, event, view);
    case 'tool_started':
      return { told, updates: [update(callId(event), { status: 'in_progress' })] };
    case 'tool_result':
      return resulted(told, event, view);
    case 'ask_failed': {
      const updates = endedEarly(told, event.partial);
      const text = told.text + updates.length;
      return { told: anew({ ...told, text }), updates };
    }
    case 'retry':
      return { told: anew(told), updates: [] };
    case 'finished':
      return finished(told, event.status === 'waiting');
    default:
      return ignore<'call' | 'note' | 'stream' | 'activity'>(event) ?? { told, updates: [] };
  }
}

function answered(told: SentUpdate, event: AssistantEvent, view: UpdateView): Telling {
  const turn = told.answers + 1;
  const updates: SessionUpdate[] = [];
  const open = [...told.open];
  let { text, thought } = told;
  let index = 0;
  for (const part of event.content) {
    switch (part.type) {
      case 'text':
        updates.push(...chunks('agent_message_chunk', part.text.slice(text), told));
        text = Math.max(0, text - part.text.length);
        break;
      case 'reasoning':
        updates.push(...chunks('agent_thought_chunk', part.text.slice(thought), told));
        thought = Math.max(0, thought - part.text.length);
        break;
      case 'tool_call': {
        const toolCallId = callId({ turn, index: index++ });
        open.push(toolCallId);
        updates.push({ sessionUpdate: 'tool_call', toolCallId, status: 'pending', ...callFacts(part, view) });
        break;
      }
      case 'opaque':
        break;
      default:
        ignore<never>(part);
    }
  }
  const usd = told.usd === null || event.usd === undefined ? null : told.usd + event.usd;
  const after = { answers: turn, torn: 0, text: 0, thought: 0, open, usd };
  return { told: after, updates: [...updates, ...usage(event, usd, view)] };
}

/** The words of an answer that ended too early which were not shown while they came, as when a session is loaded. */
function endedEarly(told: SentUpdate, partial: AssistantEvent['content'] = []): SessionUpdate[] {
  let { text, thought } = told;
  return partial.flatMap((part) => {
    if (part.type !== 'text' && part.type !== 'reasoning') return [];
    const shown = part.type === 'text' ? text : thought;
    if (part.type === 'text') text = Math.max(0, text - part.text.length);
    else thought = Math.max(0, thought - part.text.length);
    const kind = part.type === 'text' ? 'agent_message_chunk' : 'agent_thought_chunk';
    return chunks(kind, part.text.slice(shown), told);
  });
}

function usage(
  { usage }: AssistantEvent,
  usd: number | null,
  { contextTokens }: UpdateView,
): SessionUpdate[] {
  if (contextTokens === undefined) return [];
  const used = usage.inputTokens + usage.outputTokens;
  const cost = usd === null ? {} : { cost: { amount: usd, currency: 'USD' } };
  return [{ sessionUpdate: 'usage_update', used, size: contextTokens, ...cost }];
}

/** A diff says what was changed better than the words made for the model, which go along unshown. */
function resulted(told: SentUpdate, event: ToolResultEvent, { folder, tools }: UpdateView): Telling {
  const id = callId(event);
  const diff = event.diff === undefined || event.isError ? [] : diffContent(event.diff, folder);
  const text = event.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const shown =
    diff.length > 0 ? { content: diff, rawOutput: text } : { content: resultContent(event.content) };
  const known = told.open.includes(id);
  const facts = known ? {} : callFacts({ toolName: event.toolName, arguments: {} }, { folder, tools });
  return {
    told: { ...told, open: told.open.filter((other) => other !== id) },
    updates: [update(id, { ...facts, status: event.isError ? 'failed' : 'completed', ...shown })],
  };
}

/** Calls that were cut off or left unrun have no result of their own. */
function finished(told: SentUpdate, isWaiting: boolean): Telling {
  if (isWaiting) return { told: anew(told), updates: [] };
  const updates = told.open.map((id) => update(id, { status: 'failed' }));
  return { told: { ...anew(told), open: [] }, updates };
}

/** Shows only the text of messages sent by other clients. */
function history(told: SentUpdate, { messages }: HistoryEvent, { replays }: UpdateView): Telling {
  const updates: SessionUpdate[] = [];
  let { answers } = told;
  for (const message of messages) {
    if (replays === true) updates.push(...wordsOf(message, { ...told, answers }));
    if (message.role === 'assistant') answers += 1;
  }
  return { told: { ...told, answers }, updates };
}

function wordsOf(message: Message, told: SentUpdate): SessionUpdate[] {
  if (message.role === 'user') return userChunks(message.content);
  if (message.role === 'tool_result') return [];
  return message.content.flatMap((part) =>
    part.type === 'text' ? chunks('agent_message_chunk', part.text, told) : [],
  );
}

function userChunks(parts: readonly UserPart[]): SessionUpdate[] {
  return parts.map((part) => {
    const sessionUpdate = 'user_message_chunk';
    return { sessionUpdate, content: contentBlock(part) };
  });
}

function chunks(
  sessionUpdate: 'agent_message_chunk' | 'agent_thought_chunk',
  text: string,
  told: SentUpdate,
): SessionUpdate[] {
  return text === '' ? [] : [{ sessionUpdate, content: { type: 'text', text }, messageId: messageId(told) }];
}

function messageId({ answers, torn }: SentUpdate): string {
  return torn === 0 ? `answer-${answers + 1}` : `answer-${answers + 1}-${torn}`;
}

/** The current response will not be completed. */
function anew(told: SentUpdate): SentUpdate {
  if (told.text === 0 && told.thought === 0) return told;
  return { ...told, torn: told.torn + 1, text: 0, thought: 0 };
}

function update(
  toolCallId: string,
  facts: Omit<Extract<SessionUpdate, { sessionUpdate: 'tool_call_update' }>, 'sessionUpdate' | 'toolCallId'>,
): SessionUpdate {
  return { sessionUpdate: 'tool_call_update', toolCallId, ...facts };
}
