import type { Json, StopReason } from '@cobbler/agent';
import type { BlockKey, ResponseSink } from '@cobbler/agent/provider';
import { errorObject, streamFault } from '../fault.ts';
import type { Fields } from '../fields.ts';
import { isFields, objectsIn, textIn } from '../fields.ts';
import { usageOf } from '../usage.ts';
import type { ItemKind, OutputItem } from './items.ts';
import { Items, whole } from './items.ts';
import { messageHead } from './turn.ts';

/** State of a response while it streams. */
interface ResponsesStreamState {
  readonly items: Items;
  /** The content of numbered events, to detect repeated ones. */
  readonly events: Map<number, unknown>;
  called: boolean;
  refused: boolean;
  thought: boolean;
}

type EventPayload = Fields;

/** State by sink. Each response has its own sink, so the wire itself has no state. */
const answers: WeakMap<ResponseSink, ResponsesStreamState> = new WeakMap();

function answerOf(out: ResponseSink): ResponsesStreamState {
  let answer = answers.get(out);
  if (answer === undefined) {
    answer = { items: new Items(), events: new Map(), called: false, refused: false, thought: false };
    answers.set(out, answer);
  }
  return answer;
}

/**
 * Reads one server-sent event of the Responses API. Events without new content (`in_progress`, `content_part.added`)
 * and unknown events are skipped.
 */
export function responsesEvent(payload: unknown, out: ResponseSink): void {
  // Compatible servers end with the `[DONE]` of the older API; any other text is not part of this protocol.
  if (payload === '[DONE]') return;
  if (typeof payload === 'string')
    return out.fail({ kind: 'broken', message: 'The stream contained a line that is not JSON.' });
  if (!isFields(payload) || isRepeated(payload, out)) return;
  const handle = handlers.get(String(payload['type']));
  if (handle !== undefined) handle(payload, out);
  else if (payload['type'] === undefined && payload['error'] !== undefined) failWith(payload['error'], out);
}

/**
 * Returns true for a repeated event. Gateways that reconnect may send events twice. Servers that do not number events
 * send 0 or no number.
 */
function isRepeated(
  { sequence_number: number, delta: piece, type }: EventPayload,
  out: ResponseSink,
): boolean {
  if (typeof number !== 'number' || number <= 0) return false;
  const { events } = answerOf(out);
  const said = typeof piece === 'string' ? piece : type;
  if (events.has(number) && events.get(number) === said) return true;
  events.set(number, said);
  return false;
}

type PayloadHandler = (payload: EventPayload, out: ResponseSink) => void;

const handlersByType: Readonly<Record<string, PayloadHandler>> = {
  'response.created': ({ response }, out) => {
    if (isFields(response) && typeof response['model'] === 'string') out.model(response['model']);
  },
  'response.output_item.added': (payload, out) => open(payload, out),
  'response.output_item.done': (payload, out) => finish(payload, out),
  'response.output_text.delta': (payload, out) => delta(payload, out, 'text'),
  'response.refusal.delta': (payload, out) => {
    answerOf(out).refused = true;
    delta(payload, out, 'text');
  },
  'response.output_text.done': (payload, out) => part(payload, out, 'text', 'text'),
  'response.refusal.done': (payload, out) => {
    answerOf(out).refused = true;
    part(payload, out, 'text', 'refusal');
  },
  'response.reasoning_summary_text.delta': (payload, out) => delta(payload, out, 'reasoning'),
  'response.reasoning_text.delta': (payload, out) => delta(payload, out, 'reasoning'),
  'response.reasoning_summary_part.added': (payload, out) => {
    if (Number(payload['summary_index']) > 0) delta({ ...payload, delta: '\n\n' }, out, 'reasoning');
  },
  'response.function_call_arguments.delta': (payload, out) => delta(payload, out, 'input'),
  'response.function_call_arguments.done': (payload, out) => part(payload, out, 'input', 'arguments'),
  'response.completed': (payload, out) => {
    const response = isFields(payload['response']) ? payload['response'] : {};
    // Some servers end a response that was cut off like a complete one.
    if (response['status'] === 'incomplete') return handlers.get('response.incomplete')?.(payload, out);
    close(response, out);
    const { called, refused } = answerOf(out);
    out.end(refused ? 'refusal' : called ? 'tool_use' : 'complete', 'completed');
  },
  'response.incomplete': ({ response }, out) => {
    const details = isFields(response) ? response['incomplete_details'] : undefined;
    const reason =
      isFields(details) && typeof details['reason'] === 'string' ? details['reason'] : 'incomplete';
    if (isFields(response)) close(response, out);
    out.end(incomplete.get(reason) ?? 'unknown', reason);
  },
  'response.failed': ({ response }, out) => {
    tellUsage(response, out);
    failWith(isFields(response) ? response['error'] : undefined, out);
  },
  // According to the types, the fields are in the event itself, but the service sometimes nests them.
  error: (payload, out) => failWith(payload['error'] ?? payload, out),
};

/** A map, because a service may send any type, including `constructor`. */
const handlers: ReadonlyMap<string, PayloadHandler> = new Map(Object.entries(handlersByType));

const incomplete: ReadonlyMap<string, StopReason> = new Map([
  ['max_output_tokens', 'max_tokens'],
  ['content_filter', 'refusal'],
]);

function failWith(error: unknown, out: ResponseSink): void {
  const { kind, message, retryAfterMs } = streamFault(errorObject(error));
  out.fail({ kind, message, retryAfterMs });
}

/** Returns the index of an item in the output, or its id for a server that omits the index. */
function keyOf(payload: EventPayload): BlockKey {
  const { output_index: index, item_id: id, item } = payload;
  if (typeof index === 'number') return index;
  if (typeof id === 'string') return id;
  return isFields(item) && typeof item['id'] === 'string' ? item['id'] : 0;
}

const types = { text: 'message', reasoning: 'reasoning', input: 'function_call' } as const;

function itemAt(payload: EventPayload, out: ResponseSink, kind: ItemKind): OutputItem {
  return answerOf(out).items.at(keyOf(payload), types[kind], textIn(payload, 'item_id'));
}

function delta(payload: EventPayload, out: ResponseSink, kind: ItemKind): void {
  const text = payload['delta'];
  if (typeof text !== 'string' || text === '') return;
  const item = itemAt(payload, out, kind);
  answerOf(out).items.piece(item, kind, text, payload['content_index'] ?? 0);
  out[kind](item.key, text);
}

/** Completes a part. */
function part(payload: EventPayload, out: ResponseSink, kind: ItemKind, field: string): void {
  const item = itemAt(payload, out, kind);
  const text = textIn(payload, field);
  if (item.isDone || text === '') return;
  const from = (payload['content_index'] ?? 0) === item.part ? item.partFrom : item.said.length;
  whole(item, kind, text, out, from);
}

/** Returns the item of an event. */
function itemOf(payload: EventPayload, item: EventPayload, out: ResponseSink): OutputItem {
  return answerOf(out).items.opened(keyOf(payload), textIn(item, 'type'), textIn(item, 'id'));
}

/** Opens an item. Every block is announced when its item opens, so that blocks have the order of the items. */
function open(payload: EventPayload, out: ResponseSink): void {
  const { item } = payload;
  if (!isFields(item)) return;
  if (item['type'] === 'message') {
    const known = itemOf(payload, item, out);
    announce(item, known, out);
    out.text(known.key, '');
  } else if (item['type'] === 'reasoning') {
    answerOf(out).thought = true;
    out.reasoning(itemOf(payload, item, out).key, '');
  } else if (item['type'] === 'function_call') announce(item, itemOf(payload, item, out), out);
}

/** Stores the head of a message item if it has a phase or must stay tied to reasoning; most texts need none. */
function keepHead(item: EventPayload, at: BlockKey, out: ResponseSink): void {
  const head = messageHead(item);
  if (head?.phase !== undefined || (head?.id !== undefined && answerOf(out).thought)) {
    out.seal(`${at}:head`, { ...head });
  }
}

/** Emits the data that precedes the content of an item, once. */
function announce(item: EventPayload, known: OutputItem, out: ResponseSink): void {
  if (known.isAnnounced) return;
  known.isAnnounced = true;
  if (item['type'] === 'message') return keepHead(item, known.key, out);
  answerOf(out).called = true;
  out.call(known.key, textIn(item, 'call_id'), textIn(item, 'name'));
  if (typeof item['id'] === 'string') out.seal(known.key, { id: item['id'] });
}

/** Completes an item. Content missing from its chunks is added, because some servers send no chunks. */
function finish(payload: EventPayload, out: ResponseSink): void {
  const { item } = payload;
  if (isFields(item)) settle(item, itemOf(payload, item, out), out);
}

function settle(item: EventPayload, known: OutputItem, out: ResponseSink): void {
  const { key } = known;
  const wasDone = known.isDone;
  known.isDone = true;
  switch (item['type']) {
    case 'message':
      // A head after its text would belong to the next text.
      if (known.said === '') announce(item, known, out);
      whole(known, 'text', contentText(item, out), out);
      return out.close(key);
    case 'reasoning':
      whole(known, 'reasoning', summaryText(item), out);
      if (canReturn(item) && !wasDone) out.seal(key, returned(item));
      return out.close(key);
    case 'function_call':
      announce(item, known, out);
      whole(known, 'input', textIn(item, 'arguments'), out);
      return out.close(key);
    default:
      // The guide requires every item of the output to be sent back, including unknown ones.
      if (typeof item['type'] === 'string' && !wasDone) out.seal(key, returned(item));
  }
}

/** Ends the response. Its last event repeats the items; missing ones are added. */
function close(response: EventPayload, out: ResponseSink): void {
  const { items } = answerOf(out);
  for (const [index, item] of objectsIn(response, 'output').entries()) {
    const type = textIn(item, 'type');
    if (type === 'reasoning') answerOf(out).thought = true;
    settle(item, items.match(index, type, textIn(item, 'id')), out);
  }
  tellUsage(response, out);
}

/**
 * Returns true if an item can be sent back. Nothing is stored at the service, so it would not find an item without
 * its content: "Item with id 'rs_...' not found. Items are not persisted when `store` is set to false." Open models
 * send plain content.
 */
function canReturn(item: EventPayload): boolean {
  const { encrypted_content: encrypted, content } = item;
  return (
    (typeof encrypted === 'string' && encrypted !== '') || (Array.isArray(content) && content.length > 0)
  );
}

/**
 * Returns the item in the form that the service accepts back: complete, without output-only fields, which it rejects
 * ("Unknown parameter").
 */
function returned(item: EventPayload): Json {
  const { status: _status, created_by: _createdBy, ...rest } = item;
  return rest as Json;
}

function contentText(item: EventPayload, out: ResponseSink): string {
  let text = '';
  for (const part of objectsIn(item, 'content')) {
    if (part['type'] === 'refusal') answerOf(out).refused = true;
    text += textIn(part, part['type'] === 'refusal' ? 'refusal' : 'text');
  }
  return text;
}

function summaryText(item: EventPayload): string {
  const summary = objectsIn(item, 'summary');
  return (summary.length > 0 ? summary : objectsIn(item, 'content'))
    .map((part) => textIn(part, 'text'))
    .join('\n\n');
}

function tellUsage(response: unknown, out: ResponseSink): void {
  if (!isFields(response) || !isFields(response['usage'])) return;
  out.usage(usageOf(response['usage'], { input: 'input_tokens', output: 'output_tokens' }));
}
