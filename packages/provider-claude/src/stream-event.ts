import type { Json, StopReason, Usage } from '@cobbler/agent';
import type { ResponseSink } from '@cobbler/agent/provider';
import { defined } from '@cobbler/agent/values';
import { kindOfError } from './fault.ts';
import type { Fields } from './fields.ts';
import { fieldsOf, listOf, textOf } from './fields.ts';

/** Cobbler's stop reason for each of the service's. `stop_sequence` is a normal end, because the request defines where to stop. */
const stopReasons: ReadonlyMap<string, StopReason> = new Map<string, StopReason>([
  ['end_turn', 'complete'],
  ['stop_sequence', 'complete'],
  ['tool_use', 'tool_use'],
  ['max_tokens', 'max_tokens'],
  ['pause_turn', 'pause'],
  ['refusal', 'refusal'],
  ['model_context_window_exceeded', 'context_full'],
]);

/** Reads an event or block of one type. */
type StreamEventHandler = (at: number, from: Fields, out: ResponseSink) => void;

/** Data of the service that may be dropped, with the reasons. */
export const ignored: Readonly<Record<string, string>> = {
  citations_delta: 'the sources of a text, which is complete without them; no request asks for them',
};

/** The responses whose start has arrived. */
const started: WeakSet<ResponseSink> = new WeakSet();

/**
 * Reads one event of a response. Events of unknown types make no calls. A block of an unknown type that arrives as a
 * whole is stored and sent back; one that streams makes the response invalid.
 */
export function readEvent(payload: unknown, out: ResponseSink): void {
  if (typeof payload === 'string')
    out.fail({ kind: 'broken', message: 'Claude sent an event that is not JSON.' });
  if (typeof payload !== 'object' || payload === null) return;
  const event = payload as Fields;
  const { type, index } = event;
  const at = typeof index === 'number' ? index : 0;
  if (type !== 'content_block_delta') {
    const handle = events.get(type);
    if (handle === undefined) return;
    if (type === 'message_start') started.add(out);
    else if (!started.has(out) && type !== 'error')
      return out.fail({ kind: 'broken', message: 'The response is invalid: its start is missing.' });
    return handle(at, event, out);
  }
  // Nearly all events are deltas. They are read here, in the order of their frequency: a separate function would be
  // compiled twice, with everything it calls, which takes longer than reading a thousand deltas.
  if (typeof event['delta'] !== 'object' || event['delta'] === null) return;
  const delta = event['delta'] as Fields;
  const kind = delta['type'];
  if (kind === 'text_delta') out.text(at, textOf(delta['text']));
  else if (kind === 'input_json_delta') out.input(at, textOf(delta['partial_json']));
  else if (kind === 'thinking_delta') out.reasoning(at, textOf(delta['thinking']));
  else if (kind === 'signature_delta') readSignature(at, delta, out);
  else if (kind !== undefined) out.ignore(String(kind));
}

const events: ReadonlyMap<unknown, StreamEventHandler> = new Map<unknown, StreamEventHandler>([
  ['message_start', (_at, from, out) => readStart(fieldsOf(from['message']), out)],
  ['content_block_start', (at, from, out) => readBlock(at, fieldsOf(from['content_block']), out)],
  ['content_block_stop', (at, _from, out) => out.close(at)],
  ['message_delta', (_at, from, out) => readEnding(from, out)],
  ['message_stop', (_at, _from, out) => out.end()],
  ['error', (_at, from, out) => readError(fieldsOf(from['error']), out)],
]);

/** Every block is announced when it opens, because blocks keep the order of their first announcement. */
const blocks: ReadonlyMap<unknown, StreamEventHandler> = new Map<unknown, StreamEventHandler>([
  ['text', (at, block, out) => readText(at, block, out)],
  ['thinking', (at, block, out) => readThinking(at, block, out)],
  ['tool_use', (at, block, out) => readCall(at, block, out)],
]);

function readBlock(at: number, block: Fields, out: ResponseSink): void {
  const read = blocks.get(block['type']);
  if (read !== undefined) return read(at, block, out);
  // Redacted thinking, and blocks of later versions, are sent back unchanged.
  out.begin(at, 'opaque');
  out.seal(at, block as { [key: string]: Json });
}

function readStart(message: Fields, out: ResponseSink): void {
  if (listOf(message['content']).length > 0) out.ignore('content of message_start');
  if (typeof message['model'] === 'string') out.model(message['model']);
  readUsage(fieldsOf(message['usage']), out);
}

function readText(at: number, block: Fields, out: ResponseSink): void {
  out.begin(at, 'text');
  out.text(at, textOf(block['text']));
}

function readThinking(at: number, block: Fields, out: ResponseSink): void {
  out.begin(at, 'reasoning');
  out.reasoning(at, textOf(block['thinking']));
  readSignature(at, block, out);
}

/**
 * Reads the start of a call. Arguments follow in deltas after an empty object; a server that sends them in one piece
 * sends no deltas.
 */
function readCall(at: number, block: Fields, out: ResponseSink): void {
  out.begin(at, 'call');
  out.call(at, textOf(block['id']), textOf(block['name']));
  const input = fieldsOf(block['input']);
  if (Object.keys(input).length > 0) out.input(at, JSON.stringify(input));
}

function readSignature(at: number, from: Fields, out: ResponseSink): void {
  const signature = textOf(from['signature']);
  if (signature !== '') out.seal(at, { signature });
}

/** Reads the stop reason, which arrives one event before the end. Only the end completes a response. */
function readEnding(payload: Fields, out: ResponseSink): void {
  readUsage(fieldsOf(payload['usage']), out);
  const reason = fieldsOf(payload['delta'])['stop_reason'];
  if (typeof reason === 'string') out.stop(stopReasons.get(reason) ?? 'unknown', reason);
}

/**
 * Reads usage counts. They are running totals, and null if they do not apply. The service counts cached input
 * separately from `input_tokens`. An event with only output counts leaves the input unchanged.
 */
function readUsage(usage: Fields, out: ResponseSink): void {
  const cacheRead = count(usage['cache_read_input_tokens']);
  const cacheWrite = count(usage['cache_creation_input_tokens']);
  const cacheWriteLong = count(fieldsOf(usage['cache_creation'])['ephemeral_1h_input_tokens']);
  const plain = count(usage['input_tokens']);
  const output = count(usage['output_tokens']);
  const reasoning = count(fieldsOf(usage['output_tokens_details'])['thinking_tokens']);
  const counts: Partial<Usage> = {
    ...(plain !== undefined && { inputTokens: plain + (cacheRead ?? 0) + (cacheWrite ?? 0) }),
    ...defined({
      outputTokens: output,
      cacheReadTokens: cacheRead,
      cacheWriteTokens: cacheWrite,
      cacheWriteLongTokens: cacheWriteLong,
      reasoningTokens: reasoning,
    }),
  };
  if (Object.keys(counts).length > 0) out.usage(counts);
}

function readError(error: Fields, out: ResponseSink): void {
  const message = textOf(error['message']);
  out.fail({
    kind: kindOfError(error['type']),
    message: message === '' ? 'Claude reported an error without details.' : message,
  });
}

function count(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined;
}
