import type { ScriptAnswer, ScriptBlock, ScriptFault, Step } from '@cobbler/agent/testing';
import { defined } from '@cobbler/agent/values';
import type {
  Response,
  ResponseErrorEvent,
  ResponseOutputItem,
  ResponseOutputMessage,
  ResponseReasoningItem,
  ResponseStreamEvent,
  ResponseUsage,
} from 'openai/resources/responses/responses';
import { isObject } from '../../fields.ts';
import { failureOf, streamFailure } from '../wire-error.ts';
import { digest, encrypt } from './cipher.ts';

/**
 * The service numbers its events. No client needs the numbers, and a step does not know the number of earlier events.
 */
const sequence_number = 0;

/** Returns the events that start a response. */
export function begin(answer: ScriptAnswer): readonly ResponseStreamEvent[] {
  const response = responseOf(answer, { status: 'in_progress' });
  return [
    { type: 'response.created', response, sequence_number },
    { type: 'response.in_progress', response, sequence_number },
  ];
}

/** Returns the events of one step. */
export function line(step: Step, answer: ScriptAnswer): readonly ResponseStreamEvent[] {
  if (step.type === 'end') return [endOf(answer)];
  const block = answer.blocks[step.at];
  if (block === undefined) return [];
  const item = itemOf(answer, step.at, 'completed');
  const at = { output_index: step.at, item_id: item.id ?? '', sequence_number };
  switch (step.type) {
    case 'open':
      return openItem(block, itemOf(answer, step.at, 'in_progress'), at);
    case 'delta':
      return [deltaOf(block, step.text, at)];
    case 'close':
      return closeItem(block, item, at);
    case 'seal':
      // Encrypted content is sent with the complete item.
      return [];
  }
}

interface Place {
  readonly output_index: number;
  readonly item_id: string;
  readonly sequence_number: number;
}

const part = { content_index: 0, logprobs: [] };

function openItem(block: ScriptBlock, item: ResponseOutputItem, at: Place): ResponseStreamEvent[] {
  const { output_index } = at;
  const added = {
    type: 'response.output_item.added' as const,
    item: withoutContent(item),
    output_index,
    sequence_number,
  };
  if (block.type === 'text') {
    const empty = { type: 'output_text' as const, text: '', annotations: [] };
    return [added, { type: 'response.content_part.added', ...at, content_index: 0, part: empty }];
  }
  if (block.type === 'reasoning' && block.text !== '') {
    const empty = { type: 'summary_text' as const, text: '' };
    return [added, { type: 'response.reasoning_summary_part.added', ...at, summary_index: 0, part: empty }];
  }
  return [added];
}

function deltaOf(block: ScriptBlock, delta: string, at: Place): ResponseStreamEvent {
  if (block.type === 'text') return { type: 'response.output_text.delta', ...at, ...part, delta };
  if (block.type === 'call') return { type: 'response.function_call_arguments.delta', ...at, delta };
  return { type: 'response.reasoning_summary_text.delta', ...at, summary_index: 0, delta };
}

function closeItem(block: ScriptBlock, item: ResponseOutputItem, at: Place): ResponseStreamEvent[] {
  const { output_index } = at;
  const done = { type: 'response.output_item.done' as const, item, output_index, sequence_number };
  if (block.type === 'text') {
    const whole = { type: 'output_text' as const, text: block.text, annotations: [] };
    return [
      { type: 'response.output_text.done', ...at, ...part, text: block.text },
      { type: 'response.content_part.done', ...at, content_index: 0, part: whole },
      done,
    ];
  }
  if (block.type === 'call') {
    return [{ type: 'response.function_call_arguments.done', ...at, arguments: block.input }, done];
  }
  if (block.text === '') return [done];
  const whole = { type: 'summary_text' as const, text: block.text };
  return [
    { type: 'response.reasoning_summary_text.done', ...at, summary_index: 0, text: block.text },
    { type: 'response.reasoning_summary_part.done', ...at, summary_index: 0, part: whole },
    done,
  ];
}

type Item = ResponseOutputMessage | ResponseReasoningItem | (ResponseOutputItem & { type: 'function_call' });

function itemOf(answer: ScriptAnswer, at: number, status: 'in_progress' | 'completed'): Item {
  const block = answer.blocks[at];
  const id = idOf(answer, at);
  if (block === undefined || block.type === 'text') {
    const content = [{ type: 'output_text' as const, text: block?.text ?? '', annotations: [] }];
    return { id: `msg_${id}`, type: 'message', role: 'assistant', status, content };
  }
  if (block.type === 'call') {
    return {
      id: `fc_${id}`,
      type: 'function_call',
      status,
      arguments: block.input,
      call_id: block.id,
      name: block.name,
    };
  }
  const summary = block.text === '' ? [] : [{ type: 'summary_text' as const, text: block.text }];
  const encrypted = block.seal === undefined ? {} : { encrypted_content: encrypt(block.seal) };
  return { id: `rs_${id}`, type: 'reasoning', summary, ...encrypted };
}

/** Returns an item as it is announced, before its content. */
function withoutContent(item: ResponseOutputItem): ResponseOutputItem {
  if (item.type === 'message') return { ...item, content: [] };
  if (item.type === 'function_call') return { ...item, arguments: '' };
  if (item.type === 'reasoning') return { id: item.id, type: 'reasoning', summary: [] };
  return item;
}

/** Response ids. They are looked up at every step, and a response may be long. */
const ids: WeakMap<ScriptAnswer, string> = new WeakMap();

/** Returns an id of an item. Different responses have different ids, as at the service. */
function idOf(answer: ScriptAnswer, at: number): string {
  const id = ids.get(answer) ?? digest(JSON.stringify(answer.blocks));
  ids.set(answer, id);
  return `${id}${at}`;
}

function endOf(answer: ScriptAnswer): ResponseStreamEvent {
  const usage = usageOf(answer);
  const reason = incomplete[answer.stop];
  if (reason === undefined) {
    const response = responseOf(answer, { status: 'completed', usage }, true);
    return { type: 'response.completed', response, sequence_number };
  }
  // `unknown` stands for a reason that the types do not contain yet.
  const incomplete_details = { reason } as NonNullable<Response['incomplete_details']>;
  const response = responseOf(answer, { status: 'incomplete', usage, incomplete_details }, true);
  return { type: 'response.incomplete', response, sequence_number };
}

const incomplete: Partial<Readonly<Record<ScriptAnswer['stop'], string>>> = {
  max_tokens: 'max_output_tokens',
  refusal: 'content_filter',
  unknown: 'steered',
};

/**
 * Returns the usage. Details missing from the script are omitted, as compatible servers do, although the types
 * require them.
 */
function usageOf({ usage }: ScriptAnswer): ResponseUsage {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  return {
    input_tokens: inputTokens,
    input_tokens_details: defined({
      cached_tokens: cacheReadTokens,
      cache_write_tokens: cacheWriteTokens,
    }) as ResponseUsage['input_tokens_details'],
    output_tokens: outputTokens,
    output_tokens_details: defined({
      reasoning_tokens: reasoningTokens,
    }) as ResponseUsage['output_tokens_details'],
    total_tokens: inputTokens + outputTokens,
  };
}

/** Returns the response around the output. `output_text` is added by the SDK and not sent. */
function responseOf(answer: ScriptAnswer, state: Partial<Response>, whole: boolean = false): Response {
  const response: Omit<Response, 'output_text'> = {
    id: `resp_${idOf(answer, 0)}`,
    object: 'response',
    created_at: 1_800_000_000,
    access_programs: null,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model: answer.model,
    output: whole ? answer.blocks.map((_, at) => itemOf(answer, at, 'completed')) : [],
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    ...state,
  };
  return response as Response;
}

/**
 * Returns the events of a failure inside a stream. An overload arrives in an event that nests its error, as recorded
 * in github.com/Wei-Shaw/sub2api/issues/6631; rate limits and failures of the service end the response as failed;
 * other errors arrive as an `error` event as in the types.
 */
export function fail(fault: ScriptFault): readonly unknown[] {
  const { message, type, param, code } = streamFailure(fault);
  if (fault.kind === 'busy')
    return [{ type: 'error', error: { type, code, message, param }, sequence_number }];
  if (fault.kind === 'rate_limit' || fault.kind === 'agent') {
    const answer: ScriptAnswer = {
      blocks: [],
      stop: 'unknown',
      usage: { inputTokens: 0, outputTokens: 0 },
      model: '',
    };
    const error = {
      code: fault.kind === 'agent' ? 'server_error' : 'rate_limit_exceeded',
      message,
    } as const;
    const failed: ResponseStreamEvent = {
      type: 'response.failed',
      response: responseOf(answer, { status: 'failed', error }),
      sequence_number,
    };
    return [failed];
  }
  const event: ResponseErrorEvent = {
    type: 'error',
    code: code ?? failureOf(fault).type,
    message,
    param,
    sequence_number,
  };
  return [event];
}

/** Returns the events with their numbers, as the service sends them. */
export function number(payloads: readonly unknown[]): readonly unknown[] {
  return payloads.map((payload, at) => (isObject(payload) ? { ...payload, sequence_number: at } : payload));
}

/**
 * Returns true for the start and the end of an item and of the response. An event with a number is recognized if a
 * gateway sends it again.
 */
export function once(payload: unknown): boolean {
  return (
    isObject(payload) &&
    !payload['sequence_number'] &&
    /^response\.(output_item\.(added|done)|completed|incomplete)$/.test(String(payload['type']))
  );
}

/**
 * Returns events of unknown types with data, an unknown item that the last event does not repeat, and items with
 * content in unknown fields.
 */
export function unknown(): readonly unknown[] {
  const call = { id: 'fc_1', type: 'function_call', call_id: 'call_1', name: 'put' };
  const done = (item: object) => ({ type: 'response.output_item.done', output_index: 0, item });
  return [
    done({ ...call, input: { value: 'once' } }),
    done({ ...call, parameters: '{"value":"once"}' }),
    done({ ...call, arguments: '', parameters: '{"value":"once"}' }),
    done({ id: 'msg_1', type: 'message', content: [], text: 'Hello.' }),
    { type: 'response.hologram', hologram: { depth: 3 } },
    { type: 'weather', forecast: 'fair' },
    { type: 'response.output_item.added', output_index: 99, item: { id: 'holo_1', type: 'hologram' } },
  ];
}

/**
 * Returns content that a client must tolerate: keep-alives, repeated states, unknown kinds without data, and unknown
 * events about an item that the last event repeats.
 */
export function noise(): readonly unknown[] {
  return [
    { type: 'keepalive' },
    { type: 'response.queued', response: { status: 'queued' } },
    { type: 'response.hologram.delta', output_index: 0, item_id: 'holo_1', delta: 'from the future' },
    { type: 'constructor' },
    {},
    [],
    null,
  ];
}
