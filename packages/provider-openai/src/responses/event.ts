import type { Json, StopReason } from '@cobbler/agent';
import type { ResponseSink } from '@cobbler/agent/provider';
import { dropUnread } from '@cobbler/agent/provider';
import type { Fields } from '../fields.ts';
import { fieldsOf, isGiven, isObject, losesItems, objectsIn, textFrom, textIn } from '../fields.ts';
import { broken, failWith, inputOf, readPayload, stateOf } from '../stream.ts';
import { usageOf } from '../usage.ts';
import { responsesIgnored } from './ignored.ts';
import type { ItemKind, OutputItem } from './items.ts';
import { add, Items, whole } from './items.ts';
import { isSearch, sealSources, searchCount, shownSearch } from './search.ts';
import { messageHead } from './turn.ts';

interface ResponsesStreamState {
  readonly items: Items;
  /** The highest number of an event so far. */
  last: number;
  /** True if numbers are missing: then each item must be repeated as a whole. */
  hasGap: boolean;
  /** The indexes of items of unknown types. */
  readonly unknown: Set<number>;
  /** The content of numbered events, to detect repeated ones. */
  readonly events: Map<number, unknown>;
  called: boolean;
  refused: boolean;
  thought: boolean;
}

const answerOf: (out: ResponseSink) => ResponsesStreamState = stateOf(() => ({
  items: new Items(),
  last: 0,
  hasGap: false,
  unknown: new Set(),
  events: new Map(),
  called: false,
  refused: false,
  thought: false,
}));

/**
 * Reads one server-sent event of the Responses API. An event of an unknown type is dropped if it is about an item,
 * because the last event repeats all items; otherwise it makes no calls.
 */
export function responsesEvent(event: unknown, out: ResponseSink): void {
  const payload = readPayload(event, out);
  if (payload === undefined || isRepeated(payload, out)) return;
  const type = String(payload['type']);
  const handle = handlers.get(type);
  const isIgnored = Object.hasOwn(responsesIgnored, type);
  if (isIgnored) out.ignore(type);
  if (handle !== undefined) handle(payload, out);
  else if (payload['type'] === undefined && payload['error'] !== undefined) failWith(payload['error'], out);
  else if (type.startsWith('response.') && !isIgnored) dropUnknown(payload, out);
}

/** Drops an event about an item that the last event must repeat. */
function dropUnknown({ output_index: index }: Fields, out: ResponseSink): void {
  if (typeof index !== 'number') return;
  answerOf(out).unknown.add(index);
  out.ignore('item');
}

/**
 * Returns true for a repeated event. Gateways that reconnect may send events twice. Servers that do not number events
 * send 0 or no number. An event that arrives after one with a higher number makes the response invalid.
 */
function isRepeated({ sequence_number: number, delta: chunk, type }: Fields, out: ResponseSink): boolean {
  if (typeof number !== 'number' || number <= 0) return false;
  const answer = answerOf(out);
  const { events, last } = answer;
  const content = typeof chunk === 'string' ? chunk : type;
  const isKnown = events.has(number);
  if (isKnown && events.get(number) === content) {
    out.ignore('repetition');
    return true;
  }
  if (number < last && !isKnown) broken(out, `event ${number} arrived after event ${last}`);
  if (number > last + 1) answer.hasGap = true;
  answer.last = Math.max(last, number);
  events.set(number, content);
  return false;
}

type PayloadHandler = (payload: Fields, out: ResponseSink) => void;

const handlersByType: Readonly<Record<string, PayloadHandler>> = {
  'response.created': ({ response }, out) => emitModel(fieldsOf(response), out),
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
  'response.reasoning_summary_text.delta': (payload, out) => think(payload, out, 'summary'),
  'response.reasoning_text.delta': (payload, out) => think(payload, out, 'content'),
  'response.reasoning_summary_part.added': (payload, out) => {
    const { summary_index: index } = payload;
    if (typeof index === 'number' && index > 0) think({ ...payload, delta: '\n\n' }, out, 'summary');
  },
  'response.function_call_arguments.delta': (payload, out) => delta(payload, out, 'input'),
  'response.function_call_arguments.done': (payload, out) => part(payload, out, 'input', 'arguments'),
  'response.completed': (payload, out) => {
    const response = responseIn(payload, out);
    // Some servers end a response that was cut off like a complete one.
    const { status, error } = response;
    if (status === 'incomplete') return cut(response, out);
    if (status === 'failed' || isGiven(error)) return failWith(error, out);
    close(response, out);
    const { called, refused } = answerOf(out);
    out.end(refused ? 'refusal' : called ? 'tool_use' : 'complete', 'completed');
  },
  'response.incomplete': (payload, out) => cut(responseIn(payload, out), out),
  'response.failed': (payload, out) => {
    const response = fieldsOf(payload['response']);
    emitUsage(response, out);
    failWith(response['error'], out);
  },
  // According to the types, the fields are in the event itself, but the service sometimes nests them.
  error: (payload, out) => failWith(payload['error'] ?? payload, out),
};

/** Returns the response that the last event repeats. */
function responseIn({ response }: Fields, out: ResponseSink): Fields {
  if (!isObject(response)) out.ignore('an end without a response');
  return fieldsOf(response);
}

/** A map, because a service may send any type, including `constructor`. */
const handlers: ReadonlyMap<string, PayloadHandler> = new Map(Object.entries(handlersByType));

const incomplete: ReadonlyMap<string, StopReason> = new Map([
  ['max_output_tokens', 'max_tokens'],
  ['content_filter', 'refusal'],
]);

function cut(response: Fields, out: ResponseSink): void {
  const reason = textIn(fieldsOf(response['incomplete_details']), 'reason') || 'incomplete';
  close(response, out);
  out.end(incomplete.get(reason) ?? 'unknown', reason);
}

/** Returns the index of an item, or its id without one. It is a name, because some servers reuse an index. */
function keyOf(payload: Fields): string {
  const { output_index: index, item_id: id, item } = payload;
  if (typeof index === 'number') return String(index);
  return [id, fieldsOf(item)['id']].find((name) => typeof name === 'string') ?? '0';
}

const types = { text: 'message', reasoning: 'reasoning', input: 'function_call' } as const;

function itemAt(payload: Fields, out: ResponseSink, kind: ItemKind): OutputItem {
  return answerOf(out).items.at(keyOf(payload), types[kind], textIn(payload, 'item_id'));
}

function delta(payload: Fields, out: ResponseSink, kind: ItemKind): void {
  const text = payload['delta'];
  if (typeof text !== 'string') return;
  if (text === '') return out.ignore('repetition');
  const item = itemAt(payload, out, kind);
  if (item.isDone) return broken(out, 'an item continued after its end');
  answerOf(out).items.addChunk(item, kind, text, payload['content_index'] ?? 0);
  out[kind](item.key, text);
}

function think(payload: Fields, out: ResponseSink, of: 'summary' | 'content'): void {
  const { thought } = itemAt(payload, out, 'reasoning');
  thought[of] += textIn(payload, 'delta');
  delta(payload, out, 'reasoning');
}

/** Completes a part. */
function part(payload: Fields, out: ResponseSink, kind: ItemKind, field: string): void {
  const item = itemAt(payload, out, kind);
  const text = textIn(payload, field);
  const index = payload['content_index'] ?? 0;
  if (item.ended.has(index)) return broken(out, 'a part ended twice');
  item.ended.add(index);
  if (item.isDone || text === '') return out.ignore('repetition');
  const from = index === item.part ? item.partFrom : item.content.length;
  whole(item, kind, text, out, from);
}

/** The fields of each item that are read. An item of another type is kept as a whole. */
const itemFields: ReadonlyMap<unknown, readonly string[]> = new Map([
  ['message', ['id', 'type', 'role', 'status', 'content', 'phase']],
  ['reasoning', ['id', 'type', 'status', 'summary', 'content', 'encrypted_content']],
  ['function_call', ['id', 'type', 'status', 'call_id', 'name', 'arguments']],
]);

function dropUnknownFields(item: Fields, out: ResponseSink): void {
  const read = itemFields.get(item['type']);
  if (read === undefined) return;
  dropUnread(String(item['type']), item, read, out);
  for (const name of ['id', 'phase', 'encrypted_content']) textFrom(item, name, out);
}

function itemOf(payload: Fields, item: Fields, out: ResponseSink): OutputItem {
  return answerOf(out).items.opened(keyOf(payload), textIn(item, 'type'), textIn(item, 'id'));
}

/** Opens an item. Every block is announced when its item opens, so that blocks have the order of the items. */
function open(payload: Fields, out: ResponseSink): void {
  const { item } = payload;
  if (!isObject(item)) return;
  dropUnknownFields(item, out);
  if (!itemFields.has(item['type'])) return dropUnknown(payload, out);
  const known = itemOf(payload, item, out);
  if (known.isAnnounced) return broken(out, 'an item started twice');
  announce(item, known, out);
  if (item['type'] === 'message') out.text(known.key, '');
  if (item['type'] === 'reasoning') out.reasoning(known.key, '');
}

/** Returns the head of a message item if it has a phase or must stay tied to reasoning; most texts need none. */
function headOf(item: Fields, out: ResponseSink): ReturnType<typeof messageHead> {
  const head = messageHead(item);
  return head?.phase !== undefined || (head?.id !== undefined && answerOf(out).thought) ? head : undefined;
}

/** Emits the data that precedes the content of an item, once. */
function announce(item: Fields, known: OutputItem, out: ResponseSink): void {
  if (known.isAnnounced) return out.ignore('repetition');
  known.isAnnounced = true;
  if (item['type'] === 'message') {
    const head = headOf(item, out);
    if (head !== undefined) out.seal(`${known.key}:head`, { ...head });
    return;
  }
  if (item['type'] === 'reasoning') {
    answerOf(out).thought = true;
    return;
  }
  answerOf(out).called = true;
  out.call(known.key, textFrom(item, 'call_id', out), textFrom(item, 'name', out));
  if (typeof item['id'] === 'string') out.seal(known.key, { id: item['id'] });
}

/** Completes an item. Content missing from its chunks is added, because some servers send no chunks. */
function finish(payload: Fields, out: ResponseSink): void {
  const { item } = payload;
  if (!isObject(item)) return;
  const known = itemOf(payload, item, out);
  if (known.isDone) return broken(out, 'an item ended twice');
  settle(item, known, out);
}

function settle(item: Fields, known: OutputItem, out: ResponseSink): void {
  dropUnknownFields(item, out);
  const { key } = known;
  const wasDone = known.isDone;
  known.isDone = true;
  switch (item['type']) {
    case 'message':
      // A head after its text would belong to the next text.
      if (known.content === '') announce(item, known, out);
      else if (!known.isAnnounced && headOf(item, out) !== undefined)
        broken(out, 'the start of a message is missing');
      whole(known, 'text', textsIn(item, 'content', '', out), out);
      out.close(key);
      return wasDone ? undefined : sealSources(item, key, out);
    case 'reasoning':
      answerOf(out).thought = true;
      settleThought(known, item, out);
      if (canReturn(item) && !wasDone) out.seal(key, inputItem(item));
      return out.close(key);
    case 'function_call':
      announce(item, known, out);
      if (!isGiven(item['arguments']) && known.content === '') out.ignore('a call without arguments');
      whole(known, 'input', inputOf(item['arguments'], out), out);
      return out.close(key);
    default:
      // The guide requires every item of the output to be sent back, including unknown ones.
      if (typeof item['type'] !== 'string') out.ignore('an item without a type');
      else if (!wasDone) out.seal(key, inputItem(item), shownSearch(item));
      else out.ignore('repetition');
  }
}

/** Compares reasoning with its chunks, or shows it if there were none. */
function settleThought(known: OutputItem, item: Fields, out: ResponseSink): void {
  const summary = textsIn(item, 'summary', '\n\n', out);
  const content = textsIn(item, 'content', '', out);
  const { thought } = known;
  if (known.content === '') return whole(known, 'reasoning', summary === '' ? content : summary, out);
  for (const [of, text] of Object.entries({ summary, content })) {
    const streamed = of === 'summary' ? thought.summary : thought.content;
    if (streamed !== '' && text !== '') add(known, 'reasoning', streamed, text, out);
  }
  Object.assign(thought, { summary, content });
}

/** Ends the response. Its last event repeats the items; missing ones are added. */
function close(response: Fields, out: ResponseSink): void {
  const answer = answerOf(out);
  if (losesItems(response['output'] ?? 0)) out.ignore('output that is not a list of objects');
  const output = objectsIn(response, 'output');
  const streamed = answer.items.all;
  const matched = output.map((item, index) => {
    const type = textIn(item, 'type');
    if (type === 'reasoning') answer.thought = true;
    const known = answer.items.match(index, type, textIn(item, 'id'));
    settle(item, known, out);
    return known;
  });
  if (areMoved(streamed, matched)) broken(out, 'the complete items differ from the stream');
  if (answer.hasGap && streamed.some((item) => !item.isDone)) broken(out, 'some of its events are missing');
  const lost = [...answer.unknown].find((index) => index >= output.length);
  if (lost !== undefined) out.ignore(`an item of an unknown type at ${lost}`);
  emitModel(response, out);
  emitUsage(response, out);
  const searches = searchCount(response, output);
  if (searches > 0) out.usage({ searches });
}

/**
 * Returns true if the streamed items are not those of the last event, in its order. Servers that give their items
 * other indexes may move them among items of other types.
 */
function areMoved(streamed: readonly OutputItem[], matched: readonly OutputItem[]): boolean {
  const known = new Set(streamed);
  const differ = (left: readonly OutputItem[], right: readonly OutputItem[]) =>
    left.some((item, at) => item !== right[at]);
  const listed = matched.filter((item) => known.has(item));
  const hasIndexes = matched.every((item, at) => !known.has(item) || item.key === String(at));
  const repeated = streamed.filter(({ isMatched }) => isMatched);
  if (hasIndexes && differ(repeated, listed)) return true;
  return Object.values(types).some((type) => {
    const all = streamed.filter((item) => item.type === type && (item.isMatched || item.content !== ''));
    const whole = listed.filter((item) => item.type === type);
    return whole.length > 0 && differ(all, whole);
  });
}

/**
 * Returns true if an item can be sent back. Nothing is stored at the service, so it would not find an item without
 * its content: "Item with id 'rs_...' not found. Items are not persisted when `store` is set to false." Open models
 * send plain content.
 */
function canReturn(item: Fields): boolean {
  const { encrypted_content: encrypted, content } = item;
  return (
    (typeof encrypted === 'string' && encrypted !== '') || (Array.isArray(content) && content.length > 0)
  );
}

/** Returns the item as the service accepts it back: complete, without output-only fields, which it rejects. */
function inputItem(item: Fields): Json {
  const { status, created_by: _createdBy, ...rest } = item;
  return (isSearch(item['type']) ? { ...rest, status } : rest) as Json;
}

/** Returns the texts of the parts of an item. A part without text is of an unknown kind. */
function textsIn(item: Fields, name: string, between: string, out: ResponseSink): string {
  if (losesItems(item[name])) out.ignore(`${name} that is not a list of objects`);
  const texts = objectsIn(item, name).map((part) => {
    dropUnread('part', part, ['type', 'text', 'refusal'], out);
    const isRefusal = part['type'] === 'refusal';
    if (isRefusal) answerOf(out).refused = true;
    const text = part[isRefusal ? 'refusal' : 'text'];
    if (typeof text === 'string') return text;
    out.ignore(`a part of type ${String(part['type'])}`);
    return '';
  });
  return texts.join(between);
}

function emitModel({ model }: Fields, out: ResponseSink): void {
  if (typeof model === 'string') out.model(model);
}

function emitUsage({ usage }: Fields, out: ResponseSink): void {
  if (isObject(usage)) out.usage(usageOf(usage, { input: 'input_tokens', output: 'output_tokens' }));
}
