import type {
  MessageDeltaUsage,
  RawContentBlockDelta,
  RawContentBlockStartEvent,
  RawMessageStreamEvent,
  StopReason as ServiceStopReason,
  Usage as ServiceUsage,
} from '@anthropic-ai/sdk/resources/messages';
import type { StopReason, Usage } from '@cobbler/agent';
import type { ScriptAnswer, ScriptBlock, Step } from '@cobbler/agent/testing';
import { fieldsOf } from '../fields.ts';
import { sign } from './signature.ts';

/** The service's stop reason for each of Cobbler's; `unknown` stands for a reason of a future version. */
const stopReasons: Readonly<Record<StopReason, string>> = {
  complete: 'end_turn',
  tool_use: 'tool_use',
  max_tokens: 'max_tokens',
  refusal: 'refusal',
  pause: 'pause_turn',
  context_full: 'model_context_window_exceeded',
  unknown: 'some_later_reason',
};

/** Returns the event that starts a response, with its input counts, as the service sends it. */
export function begin(answer: ScriptAnswer): RawMessageStreamEvent[] {
  const { plain, cacheRead, cacheWrite } = inputOf(answer.usage);
  const { cacheWriteLongTokens: long } = answer.usage;
  const usage: ServiceUsage = {
    input_tokens: plain,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    cache_creation:
      long === undefined
        ? null
        : { ephemeral_1h_input_tokens: long, ephemeral_5m_input_tokens: (cacheWrite ?? 0) - long },
    // The service counts the first token here; the total at the end replaces it.
    output_tokens: Math.min(1, answer.usage.outputTokens),
    output_tokens_details: null,
    inference_geo: null,
    server_tool_use: null,
    service_tier: 'standard',
    speed: null,
  };
  return [
    {
      type: 'message_start',
      message: {
        id: 'msg_01scripted',
        type: 'message',
        role: 'assistant',
        model: answer.model,
        content: [],
        container: null,
        diagnostics: null,
        stop_details: null,
        stop_reason: null,
        stop_sequence: null,
        usage,
      },
    },
  ];
}

/** Returns the events of one step. */
export function line(step: Step, answer: ScriptAnswer): RawMessageStreamEvent[] {
  if (step.type === 'end') return ending(answer);
  const block = blockAt(answer, step.at);
  switch (step.type) {
    case 'open':
      return [{ type: 'content_block_start', index: step.at, content_block: startedBlock(block) }];
    case 'delta':
      return [delta(step.at, deltaOf(block, step.text))];
    case 'seal':
      if (block.type !== 'reasoning') return [];
      return [delta(step.at, { type: 'signature_delta', signature: sign(block.text, block.seal ?? '') })];
    case 'close':
      return [{ type: 'content_block_stop', index: step.at }];
  }
}

function startedBlock(block: ScriptBlock): RawContentBlockStartEvent['content_block'] {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: '', citations: null };
    case 'reasoning':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'call':
      return { type: 'tool_use', id: block.id, name: block.name, input: {}, caller: { type: 'direct' } };
  }
}

function deltaOf(block: ScriptBlock, text: string): RawContentBlockDelta {
  switch (block.type) {
    case 'text':
      return { type: 'text_delta', text };
    case 'reasoning':
      return { type: 'thinking_delta', thinking: text };
    case 'call':
      return { type: 'input_json_delta', partial_json: text };
  }
}

function delta(index: number, content: RawContentBlockDelta): RawMessageStreamEvent {
  return { type: 'content_block_delta', index, delta: content };
}

/** Returns the events that end a response. The counts are repeated as totals: adding them up would count twice. */
function ending(answer: ScriptAnswer): RawMessageStreamEvent[] {
  const { plain, cacheRead, cacheWrite } = inputOf(answer.usage);
  const thinking = answer.usage.reasoningTokens;
  const usage: MessageDeltaUsage = {
    input_tokens: plain,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: answer.usage.outputTokens,
    output_tokens_details: thinking === undefined ? null : { thinking_tokens: thinking },
    server_tool_use: null,
  };
  // The type lists the current reasons; the service documents that more may be added.
  const stop_reason = stopReasons[answer.stop] as ServiceStopReason;
  return [
    {
      type: 'message_delta',
      delta: { stop_reason, stop_sequence: null, stop_details: null, container: null },
      usage,
    },
    { type: 'message_stop' },
  ];
}

/** Returns the input counts. The service counts cached input separately; a script includes it. */
function inputOf(usage: Usage): { plain: number; cacheRead: number | null; cacheWrite: number | null } {
  const cacheRead = usage.cacheReadTokens ?? null;
  const cacheWrite = usage.cacheWriteTokens ?? null;
  return { plain: usage.inputTokens - (cacheRead ?? 0) - (cacheWrite ?? 0), cacheRead, cacheWrite };
}

function blockAt(answer: ScriptAnswer, at: number): ScriptBlock {
  const block = answer.blocks[at];
  if (block === undefined) throw new RangeError(`The script has no block ${at}.`);
  return block;
}

/** Returns pings, and events of unknown types without data. */
export function noise(): readonly unknown[] {
  return [{ type: 'ping' }, { type: 'message_weather', degrees: 21, station_id: 'ws_1' }];
}

/** Returns events, blocks and deltas of unknown types with data, or with data in unknown fields; and a second start. */
export function unknown(): readonly unknown[] {
  const call = { type: 'tool_use', id: 'toolu_1', name: 'put' };
  const start = (content_block: object) => ({ type: 'content_block_start', index: 1, content_block });
  return [
    start({ ...call, parameters: { value: 'once' } }),
    start({ ...call, input: {}, arguments: '{"value":"once"}' }),
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a', more: 'b' } },
    { type: 'message_start', message: { model: 'another' } },
    { type: 'message_stop', text: 'from the future' },
    { type: 'message_weather', forecast: 'fair' },
    { type: 'content_block_start', index: 900, content_block: { type: 'hologram', depth: 3 } },
    { type: 'content_block_delta', index: 0, delta: { type: 'hologram_delta', depth: 4 } },
  ];
}

/** Returns true for the events that the documentation lists once: a response may have several of `message_delta`. */
export function once(payload: unknown): boolean {
  return /^(message_start|content_block_start|content_block_stop|message_stop)$/.test(
    String(fieldsOf(payload)['type']),
  );
}

/** Formats an event for the stream, named by its type like the service's. */
export function frame(payload: unknown): string {
  const data = typeof payload === 'string' ? payload : JSON.stringify(payload);
  const type = fieldsOf(payload)['type'];
  return `event: ${typeof type === 'string' ? type : 'content_block_delta'}\ndata: ${data}\n\n`;
}
