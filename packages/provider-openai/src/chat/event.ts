import type { StopReason } from '@cobbler/agent';
import type { ResponseSink } from '@cobbler/agent/provider';
import { dropUnread } from '@cobbler/agent/provider';
import type { Fields } from '../fields.ts';
import { isGiven, isObject, losesItems, objectsIn, textFrom, textIn } from '../fields.ts';
import { broken, failWith, readPayload, stateOf } from '../stream.ts';
import { usageOf } from '../usage.ts';
import { StreamedCalls } from './calls.ts';

const empty = 'it contains no part of the response';

/** Data of a response that may be dropped, with the reasons. */
export const chatIgnored: Readonly<Record<string, string>> = {
  // It follows the finish reason, which ends the response.
  '[DONE]': empty,
  // A chunk is read field by field; its other fields describe the response.
  chunk: empty,
  ...Object.fromEntries(
    [
      // The sources of a text, which is complete without them: Mistral, OpenAI, Perplexity, Azure.
      'reference',
      'delta.annotations',
      'part.annotations',
      'delta.citations',
      'delta.context',
      // The reasoning in other words: OpenRouter, LiteLLM.
      'delta.reasoning_details',
      'delta.thinking_blocks',
      'delta.provider_specific_fields',
      // The name of the model, a label of the reasoning, and tools that the service ran: MiniMax, Groq.
      'delta.name',
      'delta.channel',
      'delta.executed_tools',
      // Gemini's signature of a text, which it does not require back, unlike that of a call.
      'delta.extra_content',
      // More about the finish reason and the tokens: OpenRouter, vLLM, SGLang, Azure.
      'choice.native_finish_reason',
      'choice.stop_reason',
      'choice.matched_stop',
      'choice.logprobs',
      'choice.token_ids',
      'choice.content_filter_results',
      'choice.content_filter_offsets',
    ].map((kind) => [kind, empty]),
  ),
};

/** The fields of a delta or a message that are read. */
const messageFields = [
  'role',
  'content',
  'reasoning_content',
  'reasoning',
  'refusal',
  'tool_calls',
  'function_call',
];

/** The fields of a chunk without choices that are read or describe the response. */
const chunkFields = ['id', 'object', 'model', 'usage', 'service_tier', 'system_fingerprint', 'provider'];

interface ChatStreamState {
  readonly calls: StreamedCalls;
  /** The text and the reasoning so far, for servers that repeat all of it. */
  text: string;
  reasoning: string;
  named: boolean;
  /** True once a delta has named the role, which the first one does. */
  started: boolean;
  refused: boolean;
  /** The end of the response, after which nothing is added to it. */
  stop: StopReason | undefined;
}

const answerOf: (out: ResponseSink) => ChatStreamState = stateOf(() => ({
  calls: new StreamedCalls(),
  text: '',
  reasoning: '',
  named: false,
  started: false,
  refused: false,
  stop: undefined,
}));

/**
 * Reads one chunk of a streamed completion. The finish reason ends the response, because it follows all content.
 * Usage comes later, and some servers omit the final `[DONE]` or repeat the finish reason
 * (github.com/sgl-project/sglang/pull/8417). A stream without a finish reason was cut off, whatever
 * its last chunk contains.
 */
export function chatEvent(event: unknown, out: ResponseSink): void {
  const payload = readPayload(event, out);
  if (payload === undefined) return;
  if (isGiven(payload['error'])) return failWith(payload['error'], out);
  // Any other object is unknown.
  if (!Array.isArray(payload['choices']) && !isObject(payload['usage'])) return;
  out.ignore('chunk');
  const answer = answerOf(out);
  if (!answer.named && textIn(payload, 'model') !== '') {
    answer.named = true;
    out.model(textIn(payload, 'model'));
  }
  if (isObject(payload['usage'])) {
    out.usage(usageOf(payload['usage'], { input: 'prompt_tokens', output: 'completion_tokens' }));
  }
  if (!Array.isArray(payload['choices'])) dropUnread('chunk', payload, chunkFields, out);
  if (losesItems(payload['choices'])) out.ignore('choices that are not objects');
  const [choice, other] = objectsIn(payload, 'choices');
  if (choice === undefined) return;
  // OpenRouter reports the error of the service behind it here, with any finish reason.
  if (isGiven(choice['error'])) return failWith(choice['error'], out);
  if (other !== undefined || Number(choice['index'] ?? 0) !== 0) out.ignore('a second choice');
  const { text, delta, message } = choice;
  if (isGiven(text) && text !== '') out.ignore('text outside a message');
  if ([delta, message].some((part) => isGiven(part) && !isObject(part)))
    out.ignore('a message that is not an object');
  // Beside a message, the fields of a choice describe it.
  if (!isObject(delta) && !isObject(message)) dropUnread('choice', choice, ['finish_reason', 'text'], out);
  if (isObject(delta)) takeDelta(delta, answer, out);
  if (isObject(message)) takeMessage(message, answer, out);
  const reason = textIn(choice, 'finish_reason');
  if (reason === '') return;
  const stop = stopOf(reason, answer);
  if (stop === answer.stop) return;
  answer.stop = stop;
  answer.calls.end(out);
  out.end(stop, reason);
}

/** Reads a delta. No event ends reasoning or text; the next event does. If either continues later, it becomes a new block. */
function takeDelta(delta: Fields, answer: ChatStreamState, out: ResponseSink): void {
  const parsed = readText(delta, out);
  if (textIn(delta, 'role') !== '') {
    const isLate = answer.text + answer.reasoning !== '' || answer.calls.size > 0;
    if (!answer.started && isLate) out.ignore('a role after the content');
    answer.started = true;
  }
  if (parsed.reasoning !== '') {
    answer.reasoning += parsed.reasoning;
    out.reasoning('reasoning', parsed.reasoning);
  }
  if (parsed.refused) answer.refused = true;
  if (parsed.text !== '') {
    answer.text += parsed.text;
    out.close('reasoning');
    out.text('text', parsed.text);
  }
  for (const call of callsIn(delta, out)) {
    if (answer.calls.size === 0) {
      out.close('reasoning');
      out.close('text');
    }
    answer.calls.add(call, out);
  }
}

/** Reads a complete message, which some servers send alone or after its deltas. Content missing from the deltas is added. */
function takeMessage(message: Fields, answer: ChatStreamState, out: ResponseSink): void {
  const { text, reasoning, refused } = readText(message, out);
  const calls = callsIn(message, out);
  // Some servers trim the complete text.
  const isSame = text === answer.text || text === answer.text.trim();
  const rest = isSame || !text.startsWith(answer.text) ? '' : text.slice(answer.text.length);
  const areSame = calls.length === answer.calls.size;
  const isGarbled =
    (text !== '' && !isSame && rest === '') ||
    (reasoning !== '' && answer.reasoning !== '' && reasoning !== answer.reasoning) ||
    (calls.length > 0 && answer.calls.size > 0 && !answer.calls.equals(calls, out));
  if (isGarbled) return broken(out, 'the complete message differs from the stream');
  takeDelta(
    {
      ...(answer.reasoning === '' && { reasoning }),
      ...(refused ? { refusal: rest } : { content: rest }),
      // Each call is complete, also if calls share an id.
      ...(!areSame && { tool_calls: calls.map((call, index) => ({ ...call, index })) }),
    },
    answer,
    out,
  );
}

/** Returns the calls of a delta, including the single `function_call` of the older API. */
function callsIn(delta: Fields, out: ResponseSink): readonly Fields[] {
  const { tool_calls: calls } = delta;
  const isEmpty = isObject(calls) && Object.keys(calls).length === 0;
  if (losesItems(calls) && !isEmpty) out.ignore('tool_calls that is not a list');
  const given = delta['function_call'];
  if (isGiven(given) && !isObject(given)) out.ignore('a function_call that is not an object');
  const legacy = isObject(given) ? [{ index: 0, function: given }] : [];
  return [...objectsIn(delta, 'tool_calls'), ...legacy];
}

/**
 * Returns the stop reason. Many servers send `stop` where OpenAI sends `tool_calls`, so it depends on whether there
 * are calls. Announced calls that never arrive are handled elsewhere.
 */
function stopOf(reason: string, answer: ChatStreamState): StopReason {
  if (reason === 'length') return 'max_tokens';
  if (reason === 'content_filter' || answer.refused) return 'refusal';
  if (!ends.has(reason) || (reason === 'function_call' && answer.calls.size === 0)) return 'unknown';
  return answer.calls.size > 0 || reason !== 'stop' ? 'tool_use' : 'complete';
}

/** Finish reasons of complete responses; `function_call` is from the API before `tool_calls`. */
const ends: ReadonlySet<string> = new Set(['stop', 'tool_calls', 'function_call']);

interface MessageText {
  text: string;
  reasoning: string;
  /** True if part of the text is a refusal. */
  refused: boolean;
}

/**
 * Reads the text of a delta or a message. Content is a string, or with some servers a list of parts. A part that
 * cannot be read makes the response invalid, so that no content is lost silently.
 */
function readText(from: Fields, out: ResponseSink): MessageText {
  // Compatible servers send reasoning in one of these fields, or in both with the same text.
  const [reasoning = '', other] = ['reasoning_content', 'reasoning']
    .map((name) => textFrom(from, name, out))
    .filter((text) => text !== '');
  if (other !== undefined && other !== reasoning) out.ignore('two versions of the reasoning');
  const parsed: MessageText = { text: '', reasoning, refused: false };
  dropUnread('delta', from, messageFields, out);
  const { content } = from;
  if (typeof content === 'string') parsed.text = content;
  else if (Array.isArray(content)) for (const part of content) takePart(part, parsed, out);
  else if (isGiven(content)) takePart(content, parsed, out);
  const refusal = textFrom(from, 'refusal', out);
  if (refusal !== '') takeRefusal(refusal, parsed);
  return parsed;
}

function takePart(part: unknown, parsed: MessageText, out: ResponseSink): void {
  if (typeof part === 'string') {
    parsed.text += part;
    return;
  }
  if (!isObject(part)) return broken(out, 'a part of it is not an object');
  const { type, text, thinking } = part;
  const isText = typeof text === 'string';
  // Mistral sends its sources in parts of the type `reference`, next to the text.
  if (!isText && type !== 'refusal' && type !== 'thinking') return out.ignore(String(type));
  dropUnread('part', part, ['type', 'text', 'refusal', 'thinking'], out);
  if (type === 'refusal') takeRefusal(textFrom(part, 'refusal', out), parsed);
  else if (type === 'thinking') takeThinking(thinking, parsed, out);
  else parsed.text += text;
}

function takeRefusal(text: string, parsed: MessageText): void {
  parsed.refused = true;
  parsed.text += text;
}

function takeThinking(thinking: unknown, parsed: MessageText, out: ResponseSink): void {
  const thought: MessageText = { text: '', reasoning: '', refused: false };
  for (const part of Array.isArray(thinking) ? thinking : [thinking]) takePart(part, thought, out);
  parsed.reasoning += thought.text;
}
