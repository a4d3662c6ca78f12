import type { StopReason } from '@cobbler/agent';
import type { BlockKey, Json, Out } from '@cobbler/agent/provider';
import { errorObject, streamFault } from '../fault.ts';
import type { Fields } from '../fields.ts';
import { isFields, objectsIn, textIn } from '../fields.ts';
import { usageOf } from '../usage.ts';
import { messageHead } from './turn.ts';

/** What has to be remembered of an answer while it streams. */
interface Answer {
  /** Blocks told piece by piece; of the others the whole item is told when it is done. */
  readonly told: Set<BlockKey>;
  called: boolean;
  refused: boolean;
  thought: boolean;
}

type Payload = Fields;

/** An answer lives as long as its `out`, of which the kit makes one per answer: the wire itself keeps nothing. */
const answers: WeakMap<Out, Answer> = new WeakMap();

function answerOf(out: Out): Answer {
  let answer = answers.get(out);
  if (answer === undefined) {
    answer = { told: new Set(), called: false, refused: false, thought: false };
    answers.set(out, answer);
  }
  return answer;
}

/**
 * One server-sent event of the Responses API. Kinds that say nothing new (`in_progress`, `content_part.*`,
 * `*.done` of a part, tools of the service) and kinds of the future are passed over.
 */
export function responsesEvent(payload: unknown, out: Out): void {
  // Compatible servers close with the `[DONE]` of the older API; any other text is not part of this protocol.
  if (payload === '[DONE]') return;
  if (typeof payload === 'string')
    return out.fail({ kind: 'broken', message: 'The stream held a line that is not JSON.' });
  if (!isFields(payload)) return;
  const handle = handlers.get(String(payload['type']));
  if (handle !== undefined) handle(payload, out);
  else if (payload['type'] === undefined && payload['error'] !== undefined) failWith(payload['error'], out);
}

type Handler = (payload: Payload, out: Out) => void;

const handlersByType: Readonly<Record<string, Handler>> = {
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
  'response.reasoning_summary_text.delta': (payload, out) => delta(payload, out, 'reasoning'),
  'response.reasoning_text.delta': (payload, out) => delta(payload, out, 'reasoning'),
  'response.reasoning_summary_part.added': (payload, out) => {
    if (Number(payload['summary_index']) > 0) out.reasoning(keyOf(payload), '\n\n');
  },
  'response.function_call_arguments.delta': (payload, out) => delta(payload, out, 'input'),
  'response.completed': ({ response }, out) => {
    const { called, refused } = answerOf(out);
    tellUsage(response, out);
    out.end(refused ? 'refusal' : called ? 'tool_use' : 'complete', 'completed');
  },
  'response.incomplete': ({ response }, out) => {
    const details = isFields(response) ? response['incomplete_details'] : undefined;
    const reason =
      isFields(details) && typeof details['reason'] === 'string' ? details['reason'] : 'incomplete';
    tellUsage(response, out);
    out.end(incomplete.get(reason) ?? 'unknown', reason);
  },
  'response.failed': ({ response }, out) => {
    tellUsage(response, out);
    failWith(isFields(response) ? response['error'] : undefined, out);
  },
  // The types say that the fields stand in the event itself; the service has been seen to nest them.
  error: (payload, out) => failWith(payload['error'] ?? payload, out),
};

/** As maps, since a service may send any word, `constructor` included. */
const handlers: ReadonlyMap<string, Handler> = new Map(Object.entries(handlersByType));

const incomplete: ReadonlyMap<string, StopReason> = new Map([
  ['max_output_tokens', 'max_tokens'],
  ['content_filter', 'refusal'],
]);

function failWith(error: unknown, out: Out): void {
  const { kind, message, retryAfterMs } = streamFault(errorObject(error));
  out.fail({ kind, message, retryAfterMs });
}

/** The item's place in the output; a server that leaves it out is understood by the item's id. */
function keyOf(payload: Payload): BlockKey {
  const { output_index: index, item_id: id, item } = payload;
  if (typeof index === 'number') return index;
  if (typeof id === 'string') return id;
  return isFields(item) && typeof item['id'] === 'string' ? item['id'] : 0;
}

function delta(payload: Payload, out: Out, kind: 'text' | 'reasoning' | 'input'): void {
  const text = payload['delta'];
  if (typeof text !== 'string' || text === '') return;
  const at = keyOf(payload);
  answerOf(out).told.add(at);
  out[kind](at, text);
}

/** Every block is mentioned when its item opens, so that the order of blocks is the order of items. */
function open(payload: Payload, out: Out): void {
  const { item } = payload;
  if (!isFields(item)) return;
  const at = keyOf(payload);
  if (item['type'] === 'message') {
    keepHead(item, at, out);
    out.text(at, '');
  } else if (item['type'] === 'reasoning') {
    answerOf(out).thought = true;
    out.reasoning(at, '');
  } else if (item['type'] === 'function_call') announce(item, at, out);
}

/** Most texts say all there is to keep: a head is worth keeping for its phase, or to tie it to reasoning. */
function keepHead(item: Payload, at: BlockKey, out: Out): void {
  const head = messageHead(item);
  if (head?.phase !== undefined || (head?.id !== undefined && answerOf(out).thought)) {
    out.seal(`${at}:head`, { ...head });
  }
}

function announce(item: Payload, at: BlockKey, out: Out): void {
  const answer = answerOf(out);
  answer.called = true;
  answer.told.add(`${at}:call`);
  out.call(at, textIn(item, 'call_id'), textIn(item, 'name'));
  if (typeof item['id'] === 'string') out.seal(at, { id: item['id'] });
}

/** The item is whole. What its deltas did not tell is told now: some servers send none. */
function finish(payload: Payload, out: Out): void {
  const { item } = payload;
  if (!isFields(item)) return;
  const at = keyOf(payload);
  const { told } = answerOf(out);
  switch (item['type']) {
    case 'message':
      if (!told.has(at)) out.text(at, contentText(item, out));
      return out.close(at);
    case 'reasoning':
      if (!told.has(at)) out.reasoning(at, summaryText(item));
      if (canReturn(item)) out.seal(at, returned(item));
      return out.close(at);
    case 'function_call':
      if (!told.has(`${at}:call`)) announce(item, at, out);
      if (!told.has(at) && textIn(item, 'arguments') !== '') out.input(at, textIn(item, 'arguments'));
      return out.close(at);
    default:
      // The guide asks for every item of the output to be sent back, those we do not know included.
      if (typeof item['type'] === 'string') out.seal(at, returned(item));
  }
}

/**
 * Nothing is stored at the service, so an item without its content could only be looked up in vain: "Item with
 * id 'rs_...' not found. Items are not persisted when `store` is set to false." Open models send plain content.
 */
function canReturn(item: Payload): boolean {
  const { encrypted_content: encrypted, content } = item;
  return (
    (typeof encrypted === 'string' && encrypted !== '') || (Array.isArray(content) && content.length > 0)
  );
}

/** The item as the service takes it back: whole, save what it only tells and refuses to hear ("Unknown parameter"). */
function returned(item: Payload): Json {
  const { status: _status, created_by: _createdBy, ...rest } = item;
  return rest as Json;
}

function contentText(item: Payload, out: Out): string {
  let text = '';
  for (const part of objectsIn(item, 'content')) {
    if (part['type'] === 'refusal') answerOf(out).refused = true;
    text += textIn(part, part['type'] === 'refusal' ? 'refusal' : 'text');
  }
  return text;
}

function summaryText(item: Payload): string {
  const summary = objectsIn(item, 'summary');
  return (summary.length > 0 ? summary : objectsIn(item, 'content'))
    .map((part) => textIn(part, 'text'))
    .join('\n\n');
}

function tellUsage(response: unknown, out: Out): void {
  if (!isFields(response) || !isFields(response['usage'])) return;
  out.usage(usageOf(response['usage'], { input: 'input_tokens', output: 'output_tokens' }));
}
