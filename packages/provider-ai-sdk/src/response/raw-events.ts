import { dropUnread } from '@cobbler/agent/provider';
import type { Fields } from '../values/fields.ts';
import { fieldsOf, listIn, textIn } from '../values/fields.ts';
import { lastResponse } from './stop.ts';

/** Returns what is wrong with an event, or the event if its type is unknown; undefined for any other. */
export type RawCheck = (event: Fields) => string | Fields | undefined;

/**
 * Returns a check of the raw events of one response: that they are complete and in order, which the SDK does not check.
 * Events of services other than these three are not checked.
 */
export function rawCheck(): RawCheck {
  const [messages, responses, chat] = [messagesCheck(), responsesCheck(), chatCheck()];
  let isResponses = false;
  let hasStarted = false;
  /** The first event before the first of a known service. */
  let early: Fields | undefined;
  return (event) => {
    const { type } = event;
    const lost = unreadField(event);
    if (lost !== undefined) return `the SDK cannot keep ${lost}`;
    if (typeof type !== 'string') return chat(event);
    isResponses ||= type.startsWith('response.');
    if (isResponses || type === 'message_start') hasStarted = true;
    else if (!hasStarted) early ??= event;
    const found = hasStarted ? early : undefined;
    if (hasStarted) early = undefined;
    return (isResponses ? responses : messages)(event) ?? found;
  };
}

/** Checks events of the Messages API. The SDK drops the arguments and the end of a block that has no start. */
function messagesCheck(): RawCheck {
  /** The types of the blocks; undefined after the end of a block. */
  const blocks: unknown[] = [];
  let hasStarted = false;
  let hasEnded = false;
  let stopped: string | undefined;
  return ({ type, index, delta, content_block: block }) => {
    const { type: kind, stop_reason: reason } = fieldsOf(delta);
    const at = Number(index);
    if (type === 'content_block_delta' && typeof kind !== 'string') return 'a chunk cannot be read';
    if (hasStarted && type === 'message_start') return 'its start arrived twice';
    hasStarted ||= type === 'message_start';
    if (/^content_block_/.test(String(type)) && typeof index !== 'number') return 'a block has no index';
    if (hasEnded && /^(message|content_block)_/.test(String(type))) return 'it continued after its end';
    hasEnded = type === 'message_stop';
    stopped ??= textIn(reason);
    if ((textIn(reason) ?? stopped) !== stopped) return 'it has two different stop reasons';
    if (!hasStarted && /^(message|content_block)_/.test(String(type)))
      return 'the start of the response is missing';
    if (type === 'content_block_start' && blocks.push(fieldsOf(block)['type']) !== at + 1)
      return 'a block came out of order';
    if (kind === 'input_json_delta' && blocks[at] !== 'tool_use') return 'a chunk belongs to no open block';
    if (type === 'content_block_stop') {
      if (blocks[at] === undefined) return 'a block ended before it started';
      blocks[at] = undefined;
    }
    return type === 'message_stop' && (stopped === undefined || blocks.some(Boolean))
      ? 'its end is missing'
      : undefined;
  };
}

/** Items of the Responses API that the SDK reads. */
const kept = /^(message|reasoning|function_call)$/;

/** Types of events of the Responses API. The SDK skips all others. */
const known =
  /^(error|response\.(created|in_progress|queued|completed|incomplete|failed|(output_item|content_part|output_text|refusal|function_call_arguments|reasoning_(summary_)?(text|part))\.(delta|done|added|annotation\.added)))$/;

/** Checks events of the Responses API, of whose calls and reasoning the SDK reads only the first and the last event. */
function responsesCheck(): RawCheck {
  /** The first and the last event of each item that have arrived: `added`, `done` or `addeddone`. */
  const items = new Map<unknown, string>();
  let last = 0;
  /** The highest index of an item of an unknown type, which the last event must repeat. */
  let highest = -1;
  return (event) => {
    const { type, sequence_number: number, output_index: index, item } = event;
    if (typeof number === 'number' && number > 0) {
      if (number < last) return `event ${number} arrived after event ${last}`;
      last = number;
    }
    const [, end] = /^response\.output_item\.(added|done)$/.exec(String(type)) ?? [];
    if (!known.test(String(type)) || (end !== undefined && !kept.test(String(fieldsOf(item)['type'])))) {
      if (typeof index !== 'number') return event;
      highest = Math.max(highest, index);
    }
    if (end !== undefined) {
      const ends = (items.get(index) ?? '') + end;
      if (ends !== end && ends !== 'addeddone') return 'an item started or ended twice';
      items.set(index, ends);
    }
    const response = lastResponse(event);
    if (response === undefined) return undefined;
    const types = listIn(response['output']).map((one) => String(fieldsOf(one)['type']));
    const isTorn = types.some(
      (of, at) =>
        (items.get(at) ?? 'addeddone') !== 'addeddone' && (of !== 'message' || types.includes('reasoning')),
    );
    if (isTorn) return 'an item is incomplete';
    if (highest >= types.length) return `the last event does not repeat item ${highest}`;
    const lost = types.find((of) => !kept.test(of));
    return lost === undefined ? lost : `the SDK would drop an item of type ${lost}`;
  };
}

function chatCheck(): RawCheck {
  /** The indexes of the calls. */
  const calls: number[] = [];
  let hasStarted = false;
  let hasContent = false;
  return ({ choices }) => {
    const [choice, other] = listIn(choices).map(fieldsOf);
    const { index, delta } = choice ?? {};
    if (other !== undefined || Number(index ?? 0) !== 0) return 'it contains more than one choice';
    const { role, content, tool_calls: given, ...rest } = fieldsOf(delta);
    const lost = ['audio', 'images', 'video'].find((name) => (rest[name] ?? null) !== null);
    if (lost !== undefined) return `the SDK would drop ${lost}`;
    const isStart = textIn(role) !== undefined;
    if (isStart && hasContent && !hasStarted) return 'its role arrived after its content';
    hasStarted ||= isStart;
    hasContent ||= textIn(content) !== undefined || listIn(given).length > 0;
    for (const { index: at, id, function: call } of listIn(given).map(fieldsOf)) {
      if (typeof at !== 'number' || calls.includes(at)) continue;
      if ((textIn(id) ?? textIn(fieldsOf(call)['name'])) === undefined)
        return 'the start of a call is missing';
      if (at < (calls.at(-1) ?? at)) return 'its calls came out of order';
      calls.push(at);
    }
    return undefined;
  };
}

/**
 * The fields of each object with content, by its type or its place: those that the SDK reads, and those that hold
 * none of the content.
 */
const readFields: ReadonlyMap<unknown, readonly string[]> = new Map(
  Object.entries({
    // The Messages API.
    text: ['type', 'text', 'citations'],
    thinking: ['type', 'thinking', 'signature'],
    tool_use: ['type', 'id', 'name', 'input', 'caller'],
    text_delta: ['type', 'text'],
    thinking_delta: ['type', 'thinking'],
    input_json_delta: ['type', 'partial_json'],
    signature_delta: ['type', 'signature'],
    message_delta: ['type', 'delta', 'usage', 'context_management'],
    message_stop: ['type', 'amazon-bedrock-invocationMetrics'],
    // The Responses API.
    message: ['type', 'id', 'role', 'status', 'content', 'phase'],
    reasoning: ['type', 'id', 'status', 'summary', 'content', 'encrypted_content'],
    function_call: ['type', 'id', 'status', 'call_id', 'name', 'arguments', 'caller'],
    output_text: ['type', 'text', 'annotations', 'logprobs'],
    // Chat Completions.
    delta: ['role', 'content', 'refusal', 'tool_calls', 'annotations', 'reasoning', 'reasoning_content'],
    tool_call: ['index', 'id', 'type', 'function', 'extra_content'],
    function: ['name', 'arguments'],
    choice: ['finish_reason', 'logprobs', 'content_filter_results', 'content_filter_offsets'],
  }),
);

/** Returns the first field with data of an event that the SDK would drop. */
function unreadField(event: Fields): string | undefined {
  const lost: string[] = [];
  const check = (value: unknown, kind: unknown) => {
    const read = readFields.get(kind);
    if (read !== undefined)
      dropUnread(String(kind), fieldsOf(value), read, { ignore: (name) => lost.push(name) });
  };
  const checkItem = (value: unknown) => {
    const item = fieldsOf(value);
    check(item, item['type']);
    for (const part of listIn(item['content'])) check(part, fieldsOf(part)['type']);
  };
  const { type, content_block: block, delta, item, response, choices } = event;
  check(event, type);
  check(block, fieldsOf(block)['type']);
  check(delta, fieldsOf(delta)['type']);
  checkItem(item);
  for (const one of listIn(fieldsOf(response)['output'])) checkItem(one);
  for (const choice of listIn(choices).map(fieldsOf)) {
    check(choice['delta'], 'delta');
    if (choice['delta'] === undefined) check(choice, 'choice');
    for (const call of listIn(fieldsOf(choice['delta'])['tool_calls']).map(fieldsOf)) {
      check(call, 'tool_call');
      check(call['function'], 'function');
    }
  }
  return lost[0];
}
