import type { RunStatus } from '@cobbler/agent';
import type { RunEnd } from '@cobbler/agent/events';
import { assertNever } from '@cobbler/agent/values';
import type { ResponseChunk } from './chunk.ts';

type ChunkFields = Record<string, unknown>;

interface TextItem {
  readonly id: string;
  readonly blockId: string;
  readonly index: number;
  text: string;
}

/** The fields of a response, whatever its outcome. */
export interface ResponseHead {
  readonly id: string;
  readonly model: string;
  readonly sessionId: string;
  readonly runId: string;
  readonly previous: string | null;
  /** Seconds since 1970. */
  readonly createdAt: number;
}

/** Converts chunks to events of OpenAI's Responses API, and to the resulting response. Text only. */
export class ResponseStream {
  readonly #head: ResponseHead;
  #items: TextItem[] = [];
  /** Items of the current response; discarded if it is withdrawn. */
  #current: TextItem[] = [];
  #sequence = 0;
  #index = 0;
  #ended: RunEnd | undefined;

  constructor(head: ResponseHead) {
    this.#head = head;
  }

  /** Returns the first events of a stream. */
  start(): ChunkFields[] {
    return [
      this.#event('response.created', { response: this.response }),
      this.#event('response.in_progress', { response: this.response }),
    ];
  }

  handle(chunk: ResponseChunk): ChunkFields[] {
    switch (chunk.type) {
      case 'answer':
        this.#current = [];
        return [];
      case 'open':
        return chunk.kind === 'text' ? this.#open(chunk.id) : [];
      case 'more':
        return chunk.kind === 'text' ? this.#more(chunk.id, chunk.text) : [];
      case 'close':
        return chunk.kind === 'text' ? this.#close(chunk.id) : [];
      case 'void':
        this.#items = this.#items.filter((item) => !this.#current.includes(item));
        this.#current = [];
        return [];
      case 'ended':
        this.#ended = chunk.event;
        return [this.#event(endType(chunk.event), { response: this.response })];
      case 'said':
      case 'call':
      case 'result':
      case 'left':
      case 'asked':
      case 'decided':
      case 'waits':
        return [];
      default:
        return assertNever(chunk);
    }
  }

  get response(): ChunkFields {
    const { id, model, sessionId, runId, previous, createdAt } = this.#head;
    const ended = this.#ended;
    return {
      id,
      object: 'response',
      created_at: createdAt,
      status: ended === undefined ? 'in_progress' : statuses[ended.status],
      error: ended === undefined ? null : errorOf(ended),
      incomplete_details: ended === undefined ? null : incompleteOf(ended),
      instructions: null,
      max_output_tokens: null,
      model,
      output: this.#items.map((item) => messageItem(item, ended === undefined ? 'in_progress' : 'completed')),
      parallel_tool_calls: true,
      previous_response_id: previous,
      reasoning: { effort: null, summary: null },
      store: true,
      temperature: null,
      text: { format: { type: 'text' } },
      tool_choice: 'auto',
      tools: [],
      top_p: null,
      truncation: 'disabled',
      usage: ended === undefined ? null : usageOf(ended),
      metadata: { session_id: sessionId, run_id: runId, ...(ended && { status: ended.status }) },
    };
  }

  #open(id: string): ChunkFields[] {
    // A restarted response would reuse the ids of the withdrawn one, which no client accepts.
    const item = { id: `msg_${this.#index}_${id}`, blockId: id, index: this.#index, text: '' };
    this.#index += 1;
    this.#items.push(item);
    this.#current.push(item);
    return [
      this.#event('response.output_item.added', {
        output_index: item.index,
        item: { ...messageItem(item, 'in_progress'), content: [] },
      }),
      this.#event('response.content_part.added', { ...placeIn(item), part: textPart('') }),
    ];
  }

  #more(id: string, text: string): ChunkFields[] {
    const item = this.#find(id);
    if (item === undefined) return [];
    item.text += text;
    return [this.#event('response.output_text.delta', { ...placeIn(item), delta: text, logprobs: [] })];
  }

  #close(id: string): ChunkFields[] {
    const item = this.#find(id);
    if (item === undefined) return [];
    const { text } = item;
    return [
      this.#event('response.output_text.done', { ...placeIn(item), text, logprobs: [] }),
      this.#event('response.content_part.done', { ...placeIn(item), part: textPart(text) }),
      this.#event('response.output_item.done', {
        output_index: item.index,
        item: messageItem(item, 'completed'),
      }),
    ];
  }

  #find(id: string): TextItem | undefined {
    return this.#current.find((item) => item.blockId === id);
  }

  #event(type: string, rest: ChunkFields): ChunkFields {
    const event = { type, sequence_number: this.#sequence, ...rest };
    this.#sequence += 1;
    return event;
  }
}

/** Converts an event to the format of the stream. */
export function responseFrame(event: ChunkFields): string {
  return `event: ${String(event['type'])}\ndata: ${JSON.stringify(event)}\n\n`;
}

const statuses: Readonly<Record<RunStatus, string>> = {
  failed: 'failed',
  timeout: 'failed',
  complete: 'completed',
  max_tokens: 'incomplete',
  refusal: 'incomplete',
  limit: 'incomplete',
  waiting: 'incomplete',
  cancelled: 'cancelled',
};

function endType({ status }: RunEnd): string {
  if (status === 'complete') return 'response.completed';
  return statuses[status] === 'failed' ? 'response.failed' : 'response.incomplete';
}

function errorOf({ status, error }: RunEnd): ChunkFields | null {
  if (statuses[status] !== 'failed') return null;
  const code = error?.kind === 'rate_limit' ? 'rate_limit_exceeded' : 'server_error';
  return { code, message: error?.message ?? 'The run reached its time limit.' };
}

function incompleteOf({ status, limit }: RunEnd): ChunkFields | null {
  if (statuses[status] !== 'incomplete') return null;
  const reasons: Partial<Readonly<Record<RunStatus, string>>> = {
    max_tokens: 'max_output_tokens',
    refusal: 'content_filter',
    waiting: 'approval_required',
  };
  return { reason: reasons[status] ?? `limit_${limit ?? 'reached'}` };
}

function usageOf({ metrics }: RunEnd): ChunkFields {
  const { totalInputTokens, totalOutputTokens, cacheReadTokens, reasoningTokens } = metrics;
  return {
    input_tokens: totalInputTokens,
    input_tokens_details: { cached_tokens: cacheReadTokens },
    output_tokens: totalOutputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: totalInputTokens + totalOutputTokens,
  };
}

function messageItem({ id, text }: TextItem, status: string): ChunkFields {
  return { id, type: 'message', role: 'assistant', status, content: [textPart(text)] };
}

function textPart(text: string): ChunkFields {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

function placeIn({ id, index }: TextItem): ChunkFields {
  return { item_id: id, output_index: index, content_index: 0 };
}
