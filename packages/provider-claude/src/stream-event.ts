import type { StopReason, Usage } from '@cobbler/agent';
import type { ResponseSink } from '@cobbler/agent/provider';
import { dropUnread } from '@cobbler/agent/provider';
import { kindOfError } from './fault.ts';
import type { Fields } from './fields.ts';
import { fieldsOf, textOf } from './fields.ts';
import type { ServerCalls } from './search.ts';
import { addServerInput, endBlock, sealBlock, sealCitation } from './search.ts';

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

const empty = 'it contains no part of the response';

/** Data of the service that may be dropped, with the reasons. */
export const ignored: Readonly<Record<string, string>> = {
  // Who made the call; no request declares a tool that makes calls.
  'tool_use.caller': empty,
  // What the service removed from the request; no request asks for it.
  'message_delta.context_management': empty,
  // Details of the stop reason, and where tools of the service run.
  'delta.stop_sequence': empty,
  'delta.stop_details': empty,
  'delta.container': empty,
  // Counts that the usage contains.
  'message_stop.amazon-bedrock-invocationMetrics': empty,
};

/** The fields of each event that are read. The other fields of a message describe it. */
const fields: Readonly<Record<string, readonly string[]>> = {
  message_start: ['type', 'message'],
  content_block_start: ['type', 'content_block'],
  content_block_stop: ['type'],
  message_delta: ['type', 'delta', 'usage'],
  message_stop: ['type'],
};

/** The fields of each block that are read. Blocks of other types are kept as a whole. */
const blockFields = {
  text: ['type', 'text', 'citations'],
  thinking: ['type', 'thinking', 'signature'],
  tool_use: ['type', 'id', 'name', 'input'],
} as const;

/** A delta of text or arguments as the service spells it, without escapes. The service pads events with spaces. */
const usualDelta =
  /^\{"type":"content_block_delta","index":\d,"delta":\{"type":"(?:text_delta","text|input_json_delta","partial_json)":"[ !#-[\]-\uffff]*"\} *\}$/;

// The offsets of the parts of such a delta, whose index has one digit.
const indexAt = 38;
const kindAt = 57;
const textAt = 77;
const jsonAt = 91;
const digitZero = 48;
const letterT = 116;

/** An event without content, and the number of the block that it ends. */
const usualMark = /^\{"type":"(?:content_block_stop","index":(\d)|ping"|(message_stop)") *\}$/;

/** Maximum length of a text that is compared with {@link usualMark}. */
const maxMark = 64;

/** Reads the spelling of nearly all events in half the time of `JSON.parse`; returns false for any other. */
export function readUsual(text: string, out: ResponseSink): boolean {
  // Without a list of matches, which costs more than finding them.
  if (!usualDelta.test(text)) {
    const match = text.length <= maxMark ? usualMark.exec(text) : null;
    const calls = match === null ? undefined : started.get(out);
    if (match === null || calls === undefined) return false;
    const [, closed, ended] = match;
    if (closed !== undefined && calls.size > 0) endBlock(calls, Number(closed), out);
    else if (closed !== undefined) out.close(Number(closed));
    else if (ended !== undefined) out.end();
    return true;
  }
  const at = text.charCodeAt(indexAt) - digitZero;
  if (text.charCodeAt(kindAt) === letterT) out.text(at, text.slice(textAt, text.indexOf('"', textAt)));
  else {
    const json = text.slice(jsonAt, text.indexOf('"', jsonAt));
    // Without a function of its own for the calls of models, which are many.
    if (started.get(out)?.size) addInput(at, json, out);
    else out.input(at, json);
  }
  return true;
}

/** The responses whose start has arrived, with their calls of the service's tools. */
const started: WeakMap<ResponseSink, ServerCalls> = new WeakMap();

function addInput(at: number, json: string, out: ResponseSink): void {
  const calls = started.get(out);
  if (calls === undefined || !addServerInput(calls, at, json, out)) out.input(at, json);
}

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
  // No block has the index -1, so an event of a block without an index makes the response invalid.
  const at = typeof index === 'number' ? index : -1;
  if (type !== 'content_block_delta') return readOther(type, at, event, out);
  // Nearly all events are deltas. They are read here, in the order of their frequency: a separate function would be
  // compiled twice, with everything it calls, which takes longer than reading a thousand deltas.
  if (typeof event['delta'] !== 'object' || event['delta'] === null)
    return out.ignore('an event without a delta');
  const delta = event['delta'] as Fields;
  const kind = delta['type'];
  if (kind === 'text_delta') out.text(at, onlyText(delta, 'text', out));
  else if (kind === 'input_json_delta') {
    const json = onlyText(delta, 'partial_json', out);
    if (started.get(out)?.size) addInput(at, json, out);
    else out.input(at, json);
  } else if (kind === 'thinking_delta') out.reasoning(at, onlyText(delta, 'thinking', out));
  else if (kind === 'signature_delta') readSignature(at, onlyText(delta, 'signature', out), out);
  else if (kind === 'citations_delta') {
    dropUnread(kind, delta, ['type', 'citation'], out);
    sealCitation(at, delta['citation'], out);
  } else out.ignore(String(kind));
}

function readOther(type: unknown, at: number, event: Fields, out: ResponseSink): void {
  if (type === 'error') return readError(fieldsOf(event['error']), out);
  const read = typeof type === 'string' ? fields[type] : undefined;
  if (read === undefined) return;
  const calls = started.get(out);
  if ((calls === undefined) !== (type === 'message_start')) return broken(out);
  dropUnread(String(type), event, read, out);
  if (type === 'message_start') {
    started.set(out, new Map());
    const message = fieldsOf(event['message']);
    const { content } = message;
    if (isGiven(content) && (content as { length?: unknown }).length !== 0)
      out.ignore('content of message_start');
    if (typeof message['model'] === 'string') out.model(message['model']);
    return readUsage(message['usage'], out);
  }
  if (type === 'content_block_start')
    return readBlock(at, fieldsOf(event['content_block']), calls ?? new Map(), out);
  if (type === 'content_block_stop') return calls?.size ? endBlock(calls, at, out) : out.close(at);
  if (type === 'message_stop') return out.end();
  if (type === 'message_delta') {
    readUsage(event['usage'], out);
    const delta = fieldsOf(event['delta']);
    dropUnread('delta', delta, ['stop_reason'], out);
    // It arrives one event before the end, and only the end completes a response.
    const reason = delta['stop_reason'];
    if (typeof reason === 'string') out.stop(stopReasons.get(reason) ?? 'unknown', reason);
  }
}

/** Reports a response whose start is missing, or arrived twice. */
function broken(out: ResponseSink): void {
  const what = started.has(out) ? 'arrived twice' : 'is missing';
  out.fail({ kind: 'broken', message: `The response is invalid: its start ${what}.` });
}

/**
 * Reads the start of a block, which announces every block, because blocks keep the order of their announcement. The
 * arguments of a call follow in deltas after an empty object; a server that sends them in one piece, as an object or as
 * its text, sends no deltas.
 */
function readBlock(at: number, block: Fields, calls: ServerCalls, out: ResponseSink): void {
  const { type } = block;
  if (type === 'text' || type === 'thinking' || type === 'tool_use')
    dropUnread(type, block, blockFields[type], out);
  if (type === 'text') {
    out.begin(at, 'text');
    if (block['text'] !== '') out.text(at, textIn(block, 'text', out));
    if (Array.isArray(block['citations']))
      for (const citation of block['citations']) sealCitation(at, citation, out);
  } else if (type === 'thinking') {
    out.begin(at, 'reasoning');
    out.reasoning(at, textIn(block, 'thinking', out));
    readSignature(at, textIn(block, 'signature', out), out);
  } else if (type === 'tool_use') {
    out.begin(at, 'call');
    out.call(at, textIn(block, 'id', out), textIn(block, 'name', out));
    const { input } = block;
    if (typeof input === 'string') out.input(at, input);
    else if (isGiven(input) && JSON.stringify(input) !== '{}') out.input(at, JSON.stringify(input));
  } else if (typeof type !== 'string') {
    out.ignore('a block without a type');
  } else if (type === 'server_tool_use') {
    out.begin(at, 'opaque');
    calls.set(at, { call: block, input: '' });
  } else {
    // Redacted thinking, and blocks of later versions, are sent back unchanged.
    out.begin(at, 'opaque');
    sealBlock(at, block, out);
  }
}

function readSignature(at: number, signature: string, out: ResponseSink): void {
  if (signature !== '') out.seal(at, { signature });
}

/**
 * Reads usage counts. They are running totals, and null if they do not apply. The service counts cached input
 * separately from `input_tokens`. An event with only output counts leaves the input unchanged.
 */
function readUsage(given: unknown, out: ResponseSink): void {
  const usage = fieldsOf(given);
  const input = count(usage['input_tokens']);
  const output = count(usage['output_tokens']);
  const cacheRead = count(usage['cache_read_input_tokens']);
  const cacheWrite = count(usage['cache_creation_input_tokens']);
  const cacheWriteLong = count(fieldsOf(usage['cache_creation'])['ephemeral_1h_input_tokens']);
  const reasoning = count(fieldsOf(usage['output_tokens_details'])['thinking_tokens']);
  const service = usage['server_tool_use'];
  const searches = service == null ? undefined : count(fieldsOf(service)['web_search_requests']);
  const counts: { -readonly [Field in keyof Usage]?: Usage[Field] } = {};
  if (input !== undefined) counts.inputTokens = input + (cacheRead ?? 0) + (cacheWrite ?? 0);
  if (output !== undefined) counts.outputTokens = output;
  if (cacheRead !== undefined) counts.cacheReadTokens = cacheRead;
  if (cacheWrite !== undefined) counts.cacheWriteTokens = cacheWrite;
  if (cacheWriteLong !== undefined) counts.cacheWriteLongTokens = cacheWriteLong;
  if (reasoning !== undefined) counts.reasoningTokens = reasoning;
  if (searches !== undefined && searches > 0) counts.searches = searches;
  if ((input ?? output ?? cacheRead ?? cacheWrite ?? cacheWriteLong ?? reasoning ?? searches) !== undefined)
    out.usage(counts);
}

function readError(error: Fields, out: ResponseSink): void {
  const message = textOf(error['message']);
  out.fail({
    kind: kindOfError(error['type']),
    message: message === '' ? 'Claude reported an error without details.' : message,
  });
}

/** Returns the text in the only field of a delta besides its type. Anything else in the delta would be lost. */
function onlyText(delta: Fields, name: string, out: ResponseSink): string {
  for (const other in delta)
    if (other !== name && other !== 'type') dropUnread(String(delta['type']), delta, ['type', name], out);
  const text = delta[name];
  if (typeof text === 'string') return text;
  out.ignore(`a delta without ${name}`);
  return '';
}

/** Returns the text in a field. Anything else there would be lost, so it makes the response invalid. */
function textIn(from: Fields, name: string, out: ResponseSink): string {
  const value = from[name];
  if (typeof value === 'string') return value;
  if (isGiven(value)) out.ignore(`${name} that is not a string`);
  return '';
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function count(value: unknown): number | undefined {
  return Number.isFinite(value) && (value as number) >= 0 ? (value as number) : undefined;
}
